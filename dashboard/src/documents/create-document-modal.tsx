import { Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { useProject } from '../projects/project';
import { SLUG_PATTERN, SLUG_RULE, slugify, uniqueSlug } from '../text/slug';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { createDocument, documentsQuery } from './queries';

interface Props {
  readonly title?: string;
  readonly slug?: string;
  readonly onClose: () => void;
  readonly onCreated: (document: Schemas['Document']) => void;
}

/** Creates an empty document. The slug follows the title until it is changed by hand. */
export function CreateDocumentModal({ title = '', slug, onClose, onCreated }: Props): ReactNode {
  const { organization_id: owner, id: project } = useProject();
  const { data: documents = [] } = useQuery(documentsQuery(owner, project));
  const taken = new Set(documents.map((document) => document.slug));
  const slugFor = (text: string) => uniqueSlug(slugify(text), (candidate) => taken.has(candidate));
  const form = useForm({
    initialValues: { title, slug: slug ?? (title && slugFor(title)) },
    validate: {
      title: (value) => (value.trim() === '' ? 'Give the document a title.' : null),
      slug: (value) => (SLUG_PATTERN.test(value) ? null : SLUG_RULE),
    },
  });
  form.watch('title', ({ previousValue, value }) => {
    const follows = previousValue === '' || form.getValues().slug === slugFor(previousValue);
    if (follows && slug === undefined) form.setFieldValue('slug', slugify(value) && slugFor(value));
  });
  const create = useMutation({
    mutationFn: (body: { title: string; slug: string }) => createDocument(owner, project, body),
    onSuccess: (document) => {
      onClose();
      onCreated(document);
    },
    onError: (error) =>
      showFormError(form, error, { invalid_title: 'title', invalid_slug: 'slug', slug_taken: 'slug' }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal opened centered title="Create a document" onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Stack>
          <TextInput
            label="Title"
            placeholder="Getting started"
            data-autofocus
            {...form.getInputProps('title')}
          />
          <TextInput
            label="Slug"
            description="Other documents link to it, as in [[getting-started]]."
            {...form.getInputProps('slug')}
          />
          <FormButtons label="Create document" isPending={create.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
