import { Avatar, Badge, Button, NativeSelect, Paper, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { useCurrentSession } from '../session/store';
import { Loaded } from '../ui/loaded';
import { TimeAgo } from '../ui/time-ago';
import { changeRole, membersQuery } from './queries';
import type { Member, Role } from './queries';
import { RemoveMemberModal } from './remove-member-modal';

const ROLES = [
  { value: 'admin', label: 'Admin' },
  { value: 'member', label: 'Member' },
];

/** Members of a team with their roles. */
export function MembersPage(): ReactNode {
  const owner = useOwner();
  const members = useQuery(membersQuery(owner.id));
  return (
    <Loaded query={members}>
      {(list) => (
        <Paper withBorder radius="lg" component="ul" className="list">
          {list.map((member) => (
            <MemberRow key={member.user_id} member={member} />
          ))}
        </Paper>
      )}
    </Loaded>
  );
}

function MemberRow({ member }: { member: Member }): ReactNode {
  const isAdmin = useIsAdmin();
  const { userId } = useCurrentSession();
  const [isRemoving, setRemoving] = useState(false);
  const isSelf = member.user_id === userId;
  return (
    <li className="list-row padded-row">
      <Avatar size={34} radius="xl" color="mint" aria-hidden>
        {member.email.charAt(0).toUpperCase()}
      </Avatar>
      <div className="row-main">
        <Text fw={600} className="truncate">
          {member.email}{' '}
          {isSelf && (
            <Badge size="xs" variant="light">
              you
            </Badge>
          )}
        </Text>
        <Text size="sm" c="dimmed">
          joined <TimeAgo time={member.joined_at} />
        </Text>
      </div>
      {isAdmin ? <RoleSelect member={member} /> : <Text size="sm">{member.role}</Text>}
      {(isAdmin || isSelf) && (
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={isSelf ? 'Leave the team' : `Remove ${member.email}`}
          onClick={() => setRemoving(true)}
        >
          {isSelf ? 'Leave' : 'Remove'}
        </Button>
      )}
      {isRemoving && <RemoveMemberModal member={member} isSelf={isSelf} onClose={() => setRemoving(false)} />}
    </li>
  );
}

function RoleSelect({ member }: { member: Member }): ReactNode {
  const owner = useOwner();
  const change = useMutation({ mutationFn: (role: Role) => changeRole(owner.id, member.user_id, role) });
  return (
    <NativeSelect
      size="xs"
      w={110}
      aria-label={`Role of ${member.email}`}
      data={ROLES}
      value={change.isPending ? change.variables : member.role}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.currentTarget.value as Role)}
    />
  );
}
