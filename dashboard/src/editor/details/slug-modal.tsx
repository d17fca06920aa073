import { Alert, Button, Checkbox, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { explainError, withRequestId } from '../../api/errors';
import { documentsQuery } from '../../documents/queries';
import type { DocumentAddress, DocumentSummary, LoadedDocument } from '../../documents/queries';
import { contentsQuery, moveContent } from '../../links/contents';
import type { DocumentSaver } from '../../saving/saver';
import { SLUG_PATTERN, SLUG_RULE } from '../../text/slug';
import { ErrorNotice } from '../../ui/error-notice';
import { FormButtons } from '../../ui/forms/form-buttons';
import { showFormError } from '../../ui/forms/form-error';
import { changeDetails } from './change-details';
import { planSlugChange, updateLinks } from './slug-change';
import type { FailedUpdate, SlugChange } from './slug-change';

interface Props {
  readonly address: DocumentAddress;
  readonly document: LoadedDocument;
  readonly saver: DocumentSaver;
  readonly onClose: () => void;
  readonly onChanged: (document: LoadedDocument) => void;
}

/** Changes the slug, and on request the links of other documents, which it lists first. */
export function SlugModal(props: Props): ReactNode {
  const { address, onClose } = props;
  const [stored, setStored] = useState<SlugChange>();
  const [failed, setFailed] = useState<readonly FailedUpdate[]>([]);
  const update = useMutation({
    mutationFn: (change: SlugChange) => updateLinks(address, change),
    onSuccess: (results) => {
      setFailed(results);
      if (results.length === 0) onClose();
    },
  });
  const onStored = (change: SlugChange) => {
    setStored(change);
    update.mutate(change);
  };
  const retry = () => update.mutate({ ...stored!, linking: failed.map(({ document }) => document) });
  return (
    <Modal opened centered title="Change slug" onClose={onClose}>
      {failed.length > 0 ? (
        <FailedLinks failed={failed} isPending={update.isPending} onRetry={retry} onClose={onClose} />
      ) : (
        <SlugForm {...props} isUpdating={update.isPending} onStored={onStored} />
      )}
    </Modal>
  );
}

interface FormProps extends Props {
  readonly isUpdating: boolean;
  /** Called when the service has the new slug, with the links that have to follow. */
  readonly onStored: (change: SlugChange) => void;
}

function SlugForm({
  address,
  document,
  saver,
  onClose,
  onChanged,
  onStored,
  isUpdating,
}: FormProps): ReactNode {
  const [followsLinks, setFollowsLinks] = useState(true);
  const form = useForm({
    initialValues: { slug: document.slug },
    validate: { slug: (slug) => (SLUG_PATTERN.test(slug) ? null : SLUG_RULE) },
  });
  const { slug } = form.values;
  const { plan, error, retry } = usePlan(address, slug);
  const change = useMutation({
    mutationFn: ({ newSlug }: SlugChange) => changeDetails(saver, address, { slug: newSlug }),
    onSuccess: (changed, planned) => {
      moveContent(address.owner, address.project, document.slug, changed.slug);
      onChanged(changed);
      onStored(followsLinks ? planned : { ...planned, linking: [] });
    },
    onError: (cause) => showFormError(form, cause, { invalid_slug: 'slug', slug_taken: 'slug' }),
    meta: { isShownInForm: true },
  });
  return (
    <form onSubmit={form.onSubmit(() => plan && change.mutate(plan))}>
      <Stack>
        <TextInput label="Slug" data-autofocus {...form.getInputProps('slug')} />
        {error ? (
          <ErrorNotice error={error} onRetry={retry} />
        ) : (
          <AffectedLinks linking={plan?.linking} isChecked={followsLinks} onCheck={setFollowsLinks} />
        )}
        <FormButtons
          label="Change slug"
          isDisabled={slug === document.slug || !plan}
          isPending={change.isPending || isUpdating}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

/** Plan for a slug. Documents and contents are loaded again, because other people may have added links. */
function usePlan({ owner, project, document }: DocumentAddress, slug: string) {
  const documents = useQuery({ ...documentsQuery(owner, project), staleTime: 0 });
  const contents = useQuery({ ...contentsQuery(owner, project), staleTime: 0 });
  const isCurrent = documents.isFetchedAfterMount && contents.isFetchedAfterMount;
  const error = documents.error ?? contents.error;
  const plan =
    isCurrent && !error && documents.data && contents.data
      ? planSlugChange(documents.data, contents.data.bySlug, document, slug)
      : undefined;
  const retry = () => void Promise.all([documents.refetch(), contents.refetch()]);
  return { plan, error, retry };
}

interface FailedProps {
  readonly failed: readonly FailedUpdate[];
  readonly isPending: boolean;
  readonly onRetry: () => void;
  readonly onClose: () => void;
}

function FailedLinks({ failed, isPending, onRetry, onClose }: FailedProps): ReactNode {
  return (
    <Stack>
      <Alert color="red" role="alert" title="The slug has changed, but some links have not">
        <List size="sm">
          {failed.map(({ document, error }) => (
            <List.Item key={document.id}>
              {document.title}: {describe(error)}
            </List.Item>
          ))}
        </List>
      </Alert>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Leave them broken
        </Button>
        <Button loading={isPending} onClick={onRetry}>
          Update the links
        </Button>
      </Group>
    </Stack>
  );
}

function describe(error: unknown): string {
  const { title, requestId } = explainError(error);
  return withRequestId(title, requestId);
}

interface AffectedProps {
  /** Documents that link here, or undefined while they are looked for. */
  readonly linking: readonly DocumentSummary[] | undefined;
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
}

function AffectedLinks({ linking, isChecked, onCheck }: AffectedProps): ReactNode {
  if (!linking || linking.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {linking ? 'No other document links here by the slug.' : 'Looking for documents that link here…'}
      </Text>
    );
  const label =
    linking.length === 1 ? 'Update the link in this document' : `Update links in ${linking.length} documents`;
  return (
    <div>
      <Checkbox
        label={label}
        checked={isChecked}
        onChange={(event) => onCheck(event.currentTarget.checked)}
      />
      <List size="sm" mt="xs">
        {linking.map(({ id, title }) => (
          <List.Item key={id}>{title}</List.Item>
        ))}
      </List>
    </div>
  );
}
