import { Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { renameKey } from './queries';
import type { Key } from './queries';

/** Form that renames a key. */
export function RenameModal({ item, onClose }: { item: Key; onClose: () => void }): ReactNode {
  const form = useForm({ initialValues: { name: item.name } });
  const rename = useMutation({
    mutationFn: (name: string) => renameKey(item, name),
    onSuccess: onClose,
    onError: (error) => showFormError(form, error, { invalid_name: 'name' }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal opened centered title="Rename key" onClose={onClose}>
      <form onSubmit={form.onSubmit(({ name }) => rename.mutate(name))}>
        <Stack>
          <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
          <FormButtons label="Rename" isPending={rename.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
