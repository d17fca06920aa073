import { Button, Group, List, Paper, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload, IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useIsAdmin } from '../organizations/owner';
import { useProject } from '../projects/project';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { downloadDocuments } from './download';
import { deleteDocument } from './queries';
import type { DocumentSummary } from './queries';

interface Props {
  readonly documents: readonly DocumentSummary[];
  readonly onClear: () => void;
}

interface DeleteProps {
  readonly documents: readonly DocumentSummary[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

const LISTED = 10;

/** Actions for the selected documents. */
export function SelectionBar({ documents, onClear }: Props): ReactNode {
  const project = useProject();
  const isAdmin = useIsAdmin();
  const [isDeleting, { open, close }] = useDisclosure();
  const download = useMutation({ mutationFn: () => downloadDocuments(project, documents) });
  if (documents.length === 0) return null;
  return (
    <Paper withBorder p="xs" mb="sm" radius="md" role="toolbar" aria-label="Selected documents">
      <Group gap="sm">
        <Text size="sm" fw={600}>
          {documents.length} selected
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          Export
        </Button>
        {isAdmin && (
          <Button
            size="compact-sm"
            variant="light"
            color="red"
            leftSection={<IconTrash size={14} aria-hidden />}
            onClick={open}
          >
            Delete
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
          Clear selection
        </Button>
      </Group>
      {isDeleting && <DeleteDocumentsModal documents={documents} onClose={close} onDeleted={onClear} />}
    </Paper>
  );
}

/** Confirmation that the selected documents are deleted. */
export function DeleteDocumentsModal({ documents, onClose, onDeleted }: DeleteProps): ReactNode {
  const { organization_id: owner, id: project } = useProject();
  const onConfirm = async () => {
    for (const { id } of documents) await deleteDocument({ owner, project, document: id });
    onDeleted();
  };
  const label = documents.length === 1 ? 'Delete document' : `Delete ${documents.length} documents`;
  return (
    <ConfirmModal title="Delete documents" confirmLabel={label} onConfirm={onConfirm} onClose={onClose}>
      <AffectedDocuments documents={documents} />
    </ConfirmModal>
  );
}

function AffectedDocuments({ documents }: { documents: readonly DocumentSummary[] }): ReactNode {
  const more = documents.length - LISTED;
  return (
    <>
      <Text size="sm" mb="xs">
        This deletes the following documents. This cannot be undone.
      </Text>
      <List size="sm">
        {documents.slice(0, LISTED).map(({ id, title }) => (
          <List.Item key={id}>{title}</List.Item>
        ))}
      </List>
      {more > 0 && <Text size="sm">and {more} more</Text>}
    </>
  );
}
