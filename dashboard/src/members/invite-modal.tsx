import { Alert, Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CopyField } from '../ui/forms/copy-field';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { invite } from './queries';
import type { NewInvitation, Role } from './queries';

const ROLES = [
  { value: 'member', label: 'Member: reads documents, mints own keys' },
  { value: 'admin', label: 'Admin: manages people, documents and upstreams' },
];

/** Invites an address, and shows the link once. */
export function InviteModal({ owner, onClose }: { owner: number; onClose: () => void }): ReactNode {
  const form = useForm({
    initialValues: { email: '', role: 'member' as Role },
    validate: { email: (email) => (email.includes('@') ? null : 'Enter the e-mail address of the person.') },
  });
  const create = useMutation({
    mutationFn: (values: { email: string; role: Role }) => invite(owner, values),
    onError: (error) =>
      showFormError(form, error, {
        invalid_email: 'email',
        already_member: 'email',
        invitation_pending: 'email',
      }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal
      opened
      centered
      title={create.data ? 'Invitation created' : 'Invite to the team'}
      closeOnClickOutside={!create.data}
      closeOnEscape={!create.data}
      onClose={onClose}
    >
      {create.data ? (
        <InvitationLink invitation={create.data} onClose={onClose} />
      ) : (
        <form onSubmit={form.onSubmit((values) => create.mutate(values))} noValidate>
          <Stack>
            <TextInput label="E-mail address" type="email" data-autofocus {...form.getInputProps('email')} />
            <NativeSelect label="Role" data={ROLES} {...form.getInputProps('role')} />
            <FormButtons label="Invite" isPending={create.isPending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </Modal>
  );
}

interface LinkProps {
  readonly invitation: NewInvitation;
  readonly onClose: () => void;
}

/** Link of an invitation. The service stores only its hash, so that it cannot be shown again. */
export function InvitationLink({ invitation, onClose }: LinkProps): ReactNode {
  return (
    <Stack>
      <Text size="sm">
        Send this link to <strong>{invitation.email}</strong>. It is valid for 7 days, and only for that
        address. {describeDelivery(invitation.email_delivery)}
      </Text>
      <CopyField label="Invitation link" value={invitation.join_url} />
      <Alert color="yellow">The link is shown only now. If it gets lost, resend the invitation.</Alert>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

const DELIVERIES: Record<string, string> = {
  queued: 'A mail with the link is on its way.',
  sent: 'A mail with the link was sent.',
  failed: 'The mail could not be sent.',
  rate_limited: 'No mail was sent, because too many were sent lately.',
};

function describeDelivery(delivery: string | undefined): string {
  return delivery === undefined ? '' : (DELIVERIES[delivery] ?? '');
}
