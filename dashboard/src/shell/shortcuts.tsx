import { Group, Kbd, Modal, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { lazy, Suspense, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { Store } from '../text/store';

const Palette = lazy(() => import('../palette/palette'));

type Overlay = 'none' | 'palette' | 'shortcuts';

const overlay = new Store<Overlay>('none');

/** Opens the command palette. */
export const openPalette = (): void => overlay.set('palette');
/** Opens the list of keyboard shortcuts. */
export const openShortcuts = (): void => overlay.set('shortcuts');
const closeOverlay = () => overlay.set('none');

const SHORTCUTS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [['Ctrl', 'K'], 'Open a project or document, or search in the project'],
  [['?'], 'Show this help'],
  [['Ctrl', 'S'], 'Save the document'],
  [['[', '['], 'Complete a link while typing in the editor'],
  [['Ctrl', 'F'], 'Find in the editor'],
  [['Esc'], 'Close a dialog'],
];

/** Keys that work on every page, and the overlays that they open. */
export function Shortcuts(): ReactNode {
  const current = useSyncExternalStore(overlay.subscribe, overlay.snapshot);
  const [wasOpened, setWasOpened] = useState(false);
  if (current === 'palette' && !wasOpened) setWasOpened(true);
  useHotkeys([
    ['shift+?', openShortcuts],
    ['?', openShortcuts],
  ]);
  useHotkeys([['mod+K', openPalette]], [], true);
  return (
    <>
      {current === 'shortcuts' && <ShortcutsHelp />}
      {wasOpened && (
        <Suspense>
          <Palette isOpen={current === 'palette'} onClose={closeOverlay} />
        </Suspense>
      )}
    </>
  );
}

function ShortcutsHelp(): ReactNode {
  return (
    <Modal opened centered title="Keyboard shortcuts" onClose={closeOverlay}>
      <Stack gap="sm">
        {SHORTCUTS.map(([keys, effect]) => (
          <Group key={effect} justify="space-between" wrap="nowrap">
            <Text size="sm">{effect}</Text>
            <Group gap={4} wrap="nowrap">
              {keys.map((key, index) => (
                <Kbd key={index}>{key}</Kbd>
              ))}
            </Group>
          </Group>
        ))}
      </Stack>
    </Modal>
  );
}
