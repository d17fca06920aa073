import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { leftovers } from '../saving/leftovers';
import type { Leftover } from '../saving/leftovers';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { explainRejection } from './explain-rejection';
import { RequestId } from './request-id';
import { RescueActions } from './rescue-actions';

/** Lists drafts that could not be saved without asking, and leads to the decision. */
export default function LeftoverNotice({ list }: { list: readonly Leftover[] }): ReactNode {
  return (
    <Alert
      variant="default"
      mb="md"
      role="region"
      title="Texts that are not saved"
      icon={<IconAlertTriangle size={18} aria-hidden />}
    >
      <Stack gap="sm">
        {list.map((leftover) =>
          leftover.error === undefined ? (
            <Conflict key={leftover.draft.slot} leftover={leftover} />
          ) : (
            <Rejected key={leftover.draft.slot} leftover={leftover} />
          ),
        )}
      </Stack>
    </Alert>
  );
}

function Conflict({ leftover: { draft } }: { leftover: Leftover }): ReactNode {
  const { owner, project, document } = draft.address;
  return (
    <Group gap="xs">
      <Text size="sm">
        <Link
          to="/o/$owner/projects/$project/documents/$document"
          params={{ owner: String(owner), project: String(project), document: String(document) }}
        >
          {draft.title}
        </Link>{' '}
        was changed elsewhere in the meantime. Open it to merge both texts.
      </Text>
    </Group>
  );
}

function Rejected({ leftover: { draft, error } }: { leftover: Leftover }): ReactNode {
  const [isDiscarding, setDiscarding] = useState(false);
  const discard = () => leftovers.discard(draft);
  return (
    <div>
      <Text size="sm" mb={4}>
        <strong>{draft.title}</strong>: {explainRejection(error)}.
      </Text>
      <RequestId error={error} />
      <RescueActions
        title={draft.title}
        slug={draft.slug}
        text={() => draft.content}
        onRescued={() => void discard()}
      >
        <Button size="compact-sm" variant="subtle" color="red" onClick={() => setDiscarding(true)}>
          Discard
        </Button>
      </RescueActions>
      {isDiscarding && (
        <ConfirmModal
          title="Discard the text"
          confirmLabel="Discard the text"
          onConfirm={discard}
          onClose={() => setDiscarding(false)}
        >
          This removes the unsaved text of “{draft.title}” from this browser. This cannot be undone.
        </ConfirmModal>
      )}
    </div>
  );
}
