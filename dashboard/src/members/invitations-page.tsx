import { Badge, Button, Group, Modal, Paper, SegmentedControl, Text } from '@mantine/core';
import { IconMailOpened } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { invitationsRoute } from '../routes';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { TimeAgo, TimeUntil } from '../ui/time-ago';
import { InvitationLink } from './invite-modal';
import { cancelInvitation, invitationsQuery, resendInvitation } from './queries';
import type { Invitation } from './queries';

const COLORS: Record<Invitation['status'], string> = {
  pending: 'blue',
  accepted: 'mint',
  cancelled: 'gray',
  expired: 'orange',
};
const FILTERS = [
  { value: 'pending', label: 'Pending' },
  { value: 'all', label: 'All' },
];

/** Invitations of a team and their states. */
export function InvitationsPage(): ReactNode {
  const owner = useOwner();
  const invitations = useQuery(invitationsQuery(owner.id));
  const { status = 'pending' } = invitationsRoute.useSearch();
  const navigate = useNavigate({ from: invitationsRoute.fullPath });
  return (
    <>
      <SegmentedControl
        mb="md"
        size="xs"
        aria-label="State"
        data={FILTERS}
        value={status === 'all' ? 'all' : 'pending'}
        onChange={(value) => void navigate({ search: value === 'all' ? { status: 'all' } : {} })}
      />
      <Loaded query={invitations}>
        {(list) => (
          <InvitationList invitations={list.filter((one) => status === 'all' || one.status === 'pending')} />
        )}
      </Loaded>
    </>
  );
}

function InvitationList({ invitations }: { invitations: readonly Invitation[] }): ReactNode {
  if (invitations.length === 0)
    return (
      <EmptyState
        icon={IconMailOpened}
        title="No open invitations"
        text="Invite people by their e-mail address. They get a link that only they can use."
      />
    );
  return (
    <Paper withBorder radius="lg" component="ul" className="list">
      {invitations.map((invitation) => (
        <InvitationRow key={invitation.id} invitation={invitation} />
      ))}
    </Paper>
  );
}

function InvitationRow({ invitation }: { invitation: Invitation }): ReactNode {
  const {
    email,
    role,
    status,
    created_at: createdAt,
    expires_at: expiresAt,
    invited_by: inviter,
  } = invitation;
  return (
    <li className="list-row padded-row">
      <div className="row-main">
        <Text fw={600} className="truncate">
          {email}
        </Text>
        <Text size="sm" c="dimmed">
          {role}, invited by {inviter.email} <TimeAgo time={createdAt} />
          {status === 'pending' && (
            <>
              , expires <TimeUntil time={expiresAt} />
            </>
          )}
        </Text>
      </div>
      <Badge variant="light" color={COLORS[status]}>
        {status}
      </Badge>
      {status === 'pending' && <PendingActions invitation={invitation} />}
    </li>
  );
}

function PendingActions({ invitation }: { invitation: Invitation }): ReactNode {
  const { id: owner } = useOwner();
  const [isCancelling, setCancelling] = useState(false);
  const resend = useMutation({ mutationFn: () => resendInvitation(owner, invitation.id) });
  return (
    <Group gap={4}>
      <Button size="compact-sm" variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
        Resend
      </Button>
      <Button size="compact-sm" variant="subtle" color="red" onClick={() => setCancelling(true)}>
        Cancel
      </Button>
      {resend.data && (
        <Modal
          opened
          centered
          title="Invitation renewed"
          closeOnClickOutside={false}
          closeOnEscape={false}
          onClose={() => resend.reset()}
        >
          <InvitationLink invitation={resend.data} onClose={() => resend.reset()} />
        </Modal>
      )}
      {isCancelling && (
        <ConfirmModal
          title="Cancel invitation"
          confirmLabel="Cancel invitation"
          onConfirm={() => cancelInvitation(owner, invitation.id)}
          onClose={() => setCancelling(false)}
        >
          <Text size="sm">The link of {invitation.email} stops working at once.</Text>
        </ConfirmModal>
      )}
    </Group>
  );
}
