import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFileText, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsAdmin } from '../organizations/owner';
import { useProject } from '../projects/project';
import { ProjectMenu } from '../projects/project-list';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { PageHeader } from '../ui/page-header';
import { Trail } from '../ui/trail';
import { CreateDocumentModal } from './create-document-modal';
import { DocumentsTable } from './documents-table';
import { documentsQuery } from './queries';
import { TransferMenu } from './transfer';

/** All documents of a project. */
export function DocumentsPage(): ReactNode {
  const project = useProject();
  const isAdmin = useIsAdmin();
  const documents = useQuery(documentsQuery(project.organization_id, project.id));
  const [isCreating, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const owner = String(project.organization_id);
  const openDocument = (document: { id: number }) =>
    void navigate({
      to: '/o/$owner/projects/$project/documents/$document',
      params: { owner, project: String(project.id), document: String(document.id) },
    });
  const button = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      New document
    </Button>
  );
  return (
    <>
      <PageHeader title={project.name} text={project.description} above={<Trail owner={owner} />}>
        {documents.data?.length !== 0 && button}
        <TransferMenu />
        <ProjectMenu
          project={project}
          onDeleted={() => void navigate({ to: '/o/$owner/projects', params: { owner } })}
        />
      </PageHeader>
      <Loaded query={documents}>
        {(list) =>
          list.length > 0 ? (
            <DocumentsTable documents={list} />
          ) : (
            <NoDocuments isAdmin={isAdmin}>{button}</NoDocuments>
          )
        }
      </Loaded>
      {isCreating && <CreateDocumentModal onClose={close} onCreated={openDocument} />}
    </>
  );
}

function NoDocuments({ isAdmin, children }: { isAdmin: boolean; children: ReactNode }): ReactNode {
  const text = isAdmin
    ? 'Write markdown, and link documents with [[double brackets]]. Or drop files, a folder or a zip archive here.'
    : 'An admin of the team can write the first one.';
  return (
    <EmptyState icon={IconFileText} title="No documents yet" text={text}>
      {children}
    </EmptyState>
  );
}
