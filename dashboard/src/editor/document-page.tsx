import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DocumentAddress } from '../documents/queries';
import { useOwner } from '../organizations/owner';
import { useProject } from '../projects/project';
import { documentRoute } from '../routes';
import { openDocument } from '../saving/open-documents';
import { useCurrentSession } from '../session/store';
import { Loaded } from '../ui/loaded';
import { DocumentWorkspace } from './document-workspace';

/** Page of one document. */
export function DocumentPage(): ReactNode {
  const { document: id } = documentRoute.useParams();
  const { id: owner } = useOwner();
  const { id: project } = useProject();
  const { userId } = useCurrentSession();
  const address: DocumentAddress = { owner, project, document: Number(id) };
  const opened = useQuery({
    queryKey: ['opened-document', owner, project, id, userId],
    queryFn: () => openDocument(address, userId),
    // Each visit starts with the current version. From then on the editor has its own.
    gcTime: 0,
    staleTime: Infinity,
  });
  return (
    <Loaded query={opened} skeleton={<DocumentSkeleton />}>
      {(data) => <DocumentWorkspace key={data.document.id} address={address} opened={data} />}
    </Loaded>
  );
}

function DocumentSkeleton(): ReactNode {
  return (
    <Stack gap="sm" aria-busy="true" aria-label="Loading">
      <Skeleton height={20} width={160} />
      <Skeleton height={38} width={320} />
      <Skeleton height="70vh" />
    </Stack>
  );
}
