import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { documentsQuery } from '../documents/queries';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { deleteProject } from './queries';
import type { Project } from './queries';

interface Props {
  readonly project: Project;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

/** Deletes a project after its name was typed, because all its documents are lost. */
export default function DeleteProjectModal({ project, onClose, onDeleted }: Props): ReactNode {
  const { data: documents } = useQuery(documentsQuery(project.organization_id, project.id));
  const onConfirm = async () => {
    await deleteProject(project);
    onDeleted?.();
  };
  return (
    <ConfirmModal
      title="Delete project"
      typed={project.name}
      confirmLabel="Delete project"
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Text size="sm">
        This deletes <strong>{project.name}</strong> and {describeDocuments(documents?.length)}. This cannot
        be undone.
      </Text>
    </ConfirmModal>
  );
}

function describeDocuments(count: number | undefined): string {
  if (count === undefined) return 'all its documents';
  return count === 1 ? 'its one document' : `its ${count} documents`;
}
