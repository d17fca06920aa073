import { Anchor, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { explainError } from '../api/errors';
import type { SaveState, SaveStatus } from '../saving/save-state';
import { useIsStorageFailing } from '../saving/use-saver';

const TEXTS: Record<SaveStatus, string> = {
  saved: 'Saved',
  unsaved: 'Not saved yet',
  saving: 'Saving…',
  unreachable: 'Offline: kept in this browser',
  waiting: 'Sign in to save',
  conflict: 'Merge to save',
  rejected: 'Not saved',
};

/** Orange with a contrast of at least 4.5 in both themes. Mantine's own has less. */
const ORANGE = 'light-dark(#a8480a, var(--mantine-color-orange-4))';

const COLORS: Partial<Record<SaveStatus, string>> = {
  rejected: 'var(--mantine-color-red-text)',
  unreachable: ORANGE,
  conflict: ORANGE,
};

/** Shows whether the service has the text. */
export function SaveStatusText({ state, onRetry }: { state: SaveState; onRetry: () => void }): ReactNode {
  const { status, error } = state;
  const isStorageFailing = useIsStorageFailing();
  const text = status === 'unreachable' && isStorageFailing ? 'Offline: not saved' : TEXTS[status];
  return (
    <Group gap={6} wrap="nowrap">
      <Text
        size="sm"
        c={COLORS[status] ?? 'dimmed'}
        role="status"
        className="save-status"
        data-status={status}
      >
        {status === 'rejected' ? `${TEXTS.rejected}: ${explainError(error).title}` : text}
      </Text>
      {(status === 'unreachable' || status === 'rejected') && (
        <Anchor component="button" type="button" size="sm" onClick={onRetry}>
          Try again
        </Anchor>
      )}
    </Group>
  );
}
