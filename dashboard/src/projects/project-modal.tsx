import { Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { createProject, updateProject } from './queries';
import type { Project } from './queries';

interface Props {
  readonly owner: number;
  /** Project to change; a new one is created if it is absent. */
  readonly project?: Project;
  readonly onClose: () => void;
  readonly onSaved?: (project: Project) => void;
}

/** Form for name and description of a project. */
export default function ProjectModal({ owner, project, onClose, onSaved }: Props): ReactNode {
  const form = useForm({
    initialValues: { name: project?.name ?? '', description: project?.description ?? '' },
    validate: { name: (name) => (name.trim() === '' ? 'Give the project a name.' : null) },
  });
  const save = useMutation({
    mutationFn: (body: { name: string; description: string }) =>
      project ? updateProject(project, body) : createProject(owner, body),
    onSuccess: (saved) => {
      onClose();
      onSaved?.(saved);
    },
    onError: (error) => showFormError(form, error, { invalid_name: 'name', name_taken: 'name' }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal opened centered title={project ? 'Edit project' : 'Create a project'} onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <TextInput label="Name" placeholder="Handbook" data-autofocus {...form.getInputProps('name')} />
          <Textarea
            label="Description"
            description="Optional. It is shown in the list of projects."
            autosize
            minRows={2}
            maxRows={8}
            {...form.getInputProps('description')}
          />
          <FormButtons
            label={project ? 'Save' : 'Create project'}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
