import { List, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { organizationKeysQuery } from '../keys/queries';
import { membersQuery } from '../members/queries';
import { useOwner } from '../organizations/owner';
import { organizationsQuery } from '../organizations/queries';
import { projectsQuery } from '../projects/queries';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { deleteOrganization } from './queries';

/** Deletes a team after its slug was typed, and lists first what is lost. */
export function DeleteTeamModal({ onClose }: { onClose: () => void }): ReactNode {
  const { id, name, slug } = useOwner();
  const { data: projects } = useQuery(projectsQuery(id));
  const { data: keys } = useQuery(organizationKeysQuery(id, false));
  const { data: members } = useQuery(membersQuery(id));
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const onConfirm = async () => {
    const { revoked_keys } = await deleteOrganization(id, slug!);
    notifications.show({ message: `${name} was deleted. ${revoked_keys} keys were revoked.` });
    queryClient.setQueryData(organizationsQuery.queryKey, (list) => list?.filter((other) => other.id !== id));
    await navigate({ to: '/' });
  };
  return (
    <ConfirmModal
      title={`Delete ${name}`}
      typed={slug!}
      confirmLabel="Delete the team"
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Text size="sm">This cannot be undone. It affects:</Text>
      <List size="sm" mt="xs">
        <List.Item>{projects?.length ?? 'all'} projects with their documents</List.Item>
        <List.Item>{keys?.length ?? 'all'} keys, which are revoked at once</List.Item>
        <List.Item>{members?.length ?? 'all'} members, who lose access</List.Item>
      </List>
    </ConfirmModal>
  );
}
