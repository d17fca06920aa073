import { Group, Kbd, Text, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { openPalette } from './shortcuts';

/** Opens the palette with the mouse, and shows its shortcut. */
export function PaletteButton(): ReactNode {
  return (
    <UnstyledButton className="palette-button" w="100%" px="sm" py={6} onClick={openPalette}>
      <Group wrap="nowrap" gap="xs">
        <IconSearch size={15} aria-hidden />
        <Text size="sm" flex={1}>
          Search
        </Text>
        <Kbd size="xs">Ctrl K</Kbd>
      </Group>
    </UnstyledButton>
  );
}
