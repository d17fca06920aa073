import { Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { NewKeyView } from './new-key-view';
import { mintKey } from './queries';

const DAY_MS = 86_400_000;
const LIFETIMES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

/** Mints a key, and shows its secret once. */
export function MintModal({ owner, onClose }: { owner: number; onClose: () => void }): ReactNode {
  const form = useForm({ initialValues: { name: '', days: '' } });
  const mint = useMutation({
    mutationFn: ({ name, days }: { name: string; days: string }) =>
      mintKey(owner, {
        ...(name.trim() !== '' && { name }),
        ...(days !== '' && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
      }),
    onError: (error) => showFormError(form, error, { invalid_name: 'name', invalid_expires_at: 'days' }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal
      opened
      centered
      size={mint.data ? 'xl' : 'md'}
      title={mint.data ? 'Your new key' : 'Mint a key'}
      closeOnClickOutside={!mint.data}
      closeOnEscape={!mint.data}
      onClose={onClose}
    >
      {mint.data ? (
        <NewKeyView secret={mint.data.api_key} onClose={onClose} />
      ) : (
        <form onSubmit={form.onSubmit((values) => mint.mutate(values))}>
          <Stack>
            <TextInput
              label="Name"
              description="The tool or device that will use the key."
              placeholder="Laptop"
              data-autofocus
              {...form.getInputProps('name')}
            />
            <NativeSelect label="Expires" data={LIFETIMES} {...form.getInputProps('days')} />
            <FormButtons label="Mint" isPending={mint.isPending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </Modal>
  );
}
