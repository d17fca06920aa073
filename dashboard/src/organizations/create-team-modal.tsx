import { Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, take } from '../api/client';
import { SLUG_PATTERN, SLUG_RULE, slugify } from '../text/slug';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { organizationsQuery } from './queries';

/** Creates a team and opens it. */
export function CreateTeamModal({ onClose }: { onClose: () => void }): ReactNode {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { name: '', slug: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give the team a name.' : null),
      slug: (slug) => (SLUG_PATTERN.test(slug) ? null : SLUG_RULE),
    },
  });
  form.watch('name', ({ previousValue, value }) => {
    if (form.getValues().slug === slugify(previousValue)) form.setFieldValue('slug', slugify(value));
  });
  const create = useMutation({
    mutationFn: (body: { name: string; slug: string }) => take(api.POST('/me/organizations', { body })),
    onSuccess: (team) => {
      queryClient.setQueryData(organizationsQuery.queryKey, (list) => list && [...list, team]);
      onClose();
      void navigate({ to: '/o/$owner/projects', params: { owner: String(team.id) } });
    },
    onError: (error) =>
      showFormError(form, error, { invalid_name: 'name', invalid_slug: 'slug', slug_taken: 'slug' }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal opened centered title="Create a team" onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Stack>
          <TextInput label="Name" placeholder="Acme" data-autofocus {...form.getInputProps('name')} />
          <TextInput
            label="Slug"
            description="Unique and final: it cannot be changed later."
            {...form.getInputProps('slug')}
          />
          <FormButtons label="Create team" isPending={create.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
