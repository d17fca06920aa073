import { Checkbox, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { documentsQuery } from '../../documents/queries';
import type { DocumentAddress, LoadedDocument } from '../../documents/queries';
import { contentsQuery } from '../../links/contents';
import type { DocumentSaver } from '../../saving/saver';
import { SLUG_PATTERN, SLUG_RULE } from '../../text/slug';
import { FormButtons } from '../../ui/form-buttons';
import { showFormError } from '../../ui/form-error';
import { changeDetails } from './change-details';
import { planSlugChange, updateLinks } from './slug-change';
import type { LinkChange } from './slug-change';

interface Props {
  readonly address: DocumentAddress;
  readonly document: LoadedDocument;
  readonly saver: DocumentSaver;
  readonly onClose: () => void;
  readonly onChanged: (document: LoadedDocument) => void;
}

/** Changes the slug, and on request the links of other documents, which it lists first. */
export function SlugModal({ address, document, saver, onClose, onChanged }: Props): ReactNode {
  const { data: documents = [] } = useQuery(documentsQuery(address.owner, address.project));
  const { data: contents } = useQuery(contentsQuery(address.owner, address.project));
  const [followsLinks, setFollowsLinks] = useState(true);
  const form = useForm({
    initialValues: { slug: document.slug },
    validate: { slug: (slug) => (SLUG_PATTERN.test(slug) ? null : SLUG_RULE) },
  });
  const { slug } = form.values;
  const changes = contents ? planSlugChange(documents, contents.bySlug, document.id, slug) : [];
  const change = useMutation({
    mutationFn: async () => {
      const changed = await changeDetails(saver, address, { slug });
      if (followsLinks) await updateLinks(address, changes, document.id, slug, documents);
      return changed;
    },
    onSuccess: (changed) => {
      onChanged(changed);
      onClose();
    },
    onError: (error) => showFormError(form, error, { invalid_slug: 'slug', slug_taken: 'slug' }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal opened centered title="Change slug" onClose={onClose}>
      <form onSubmit={form.onSubmit(() => change.mutate())}>
        <Stack>
          <TextInput label="Slug" data-autofocus {...form.getInputProps('slug')} />
          <AffectedLinks
            changes={changes}
            isLoading={!contents}
            isChecked={followsLinks}
            onCheck={setFollowsLinks}
          />
          <FormButtons
            label="Change slug"
            isDisabled={slug === document.slug || !contents}
            isPending={change.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

interface AffectedProps {
  readonly changes: readonly LinkChange[];
  readonly isLoading: boolean;
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
}

function AffectedLinks({ changes, isLoading, isChecked, onCheck }: AffectedProps): ReactNode {
  if (isLoading || changes.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {isLoading ? 'Looking for documents that link here…' : 'No other document links here by the slug.'}
      </Text>
    );
  const label =
    changes.length === 1 ? 'Update the link in this document' : `Update links in ${changes.length} documents`;
  return (
    <div>
      <Checkbox
        label={label}
        checked={isChecked}
        onChange={(event) => onCheck(event.currentTarget.checked)}
      />
      <List size="sm" mt="xs">
        {changes.map(({ document }) => (
          <List.Item key={document.id}>{document.title}</List.Item>
        ))}
      </List>
    </div>
  );
}
