import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { organizationKeysQuery } from '../keys/queries';
import { useOwner } from '../organizations/owner';
import { organizationsQuery } from '../organizations/queries';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { removeMember } from './queries';
import type { Member } from './queries';

interface Props {
  readonly member: Member;
  readonly isSelf: boolean;
  readonly onClose: () => void;
}

/** Removes a member, or leaves the team. Shows first how many keys are revoked. */
export function RemoveMemberModal({ member, isSelf, onClose }: Props): ReactNode {
  const owner = useOwner();
  const { data: keys } = useQuery(organizationKeysQuery(owner.id, false));
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const count = keys?.filter(({ user_id }) => user_id === member.user_id).length;
  const onConfirm = async () => {
    const { revoked_keys } = await removeMember(owner.id, isSelf ? 'me' : member.user_id);
    notifications.show({
      message: `${isSelf ? 'You left the team' : `${member.email} was removed`}. ${describeKeys(revoked_keys)} revoked.`,
    });
    if (!isSelf) return;
    queryClient.setQueryData(organizationsQuery.queryKey, (list) =>
      list?.filter(({ id }) => id !== owner.id),
    );
    void navigate({ to: '/' });
  };
  return (
    <ConfirmModal
      title={isSelf ? `Leave ${owner.name}` : `Remove ${member.email}`}
      confirmLabel={isSelf ? 'Leave' : 'Remove'}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Text size="sm">
        {isSelf ? 'You lose' : 'This person loses'} access to projects and models of {owner.name}.{' '}
        <strong>{describeKeys(count)} revoked at once.</strong>
      </Text>
    </ConfirmModal>
  );
}

function describeKeys(count: number | undefined): string {
  if (count === undefined) return 'All keys in this team are';
  if (count === 0) return 'No keys are';
  return count === 1 ? '1 key is' : `${count} keys are`;
}
