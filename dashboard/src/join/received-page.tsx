import { Button, Group, Paper, Text } from '@mantine/core';
import { IconMailOpened } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { receivedInvitationsQuery } from '../organizations/queries';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { PageHeader } from '../ui/page-header';
import { TimeUntil } from '../ui/time-ago';
import { acceptInvitation, declineInvitation } from './queries';

/** Pending invitations for the signed-in address. */
export function ReceivedPage(): ReactNode {
  const invitations = useQuery(receivedInvitationsQuery);
  return (
    <>
      <PageHeader title="Invitations" text="Teams that invite you." />
      <Loaded query={invitations}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState
              icon={IconMailOpened}
              title="No invitations"
              text="Invitations to teams appear here, and are sent to you as a link."
            />
          ) : (
            <Paper withBorder radius="lg" component="ul" className="list">
              {list.map((invitation) => (
                <ReceivedRow key={invitation.id} invitation={invitation} />
              ))}
            </Paper>
          )
        }
      </Loaded>
    </>
  );
}

function ReceivedRow({ invitation }: { invitation: Schemas['ReceivedInvitation'] }): ReactNode {
  const { id, organization, role, invited_by: inviter, expires_at: expiresAt } = invitation;
  const navigate = useNavigate();
  const accept = useMutation({
    mutationFn: () => acceptInvitation(id),
    onSuccess: () => void navigate({ to: '/o/$owner/projects', params: { owner: String(organization.id) } }),
  });
  const decline = useMutation({ mutationFn: () => declineInvitation(id) });
  return (
    <li className="list-row padded-row">
      <div className="row-main">
        <Text fw={600}>{organization.name}</Text>
        <Text size="sm" c="dimmed">
          {inviter.email} invites you as {role}; expires <TimeUntil time={expiresAt} />
        </Text>
      </div>
      <Group gap={6}>
        <Button size="compact-md" loading={accept.isPending} onClick={() => accept.mutate()}>
          Join
        </Button>
        <Button
          size="compact-md"
          variant="default"
          loading={decline.isPending}
          onClick={() => decline.mutate()}
        >
          Decline
        </Button>
      </Group>
    </li>
  );
}
