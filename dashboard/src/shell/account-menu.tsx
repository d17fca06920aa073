import {
  Avatar,
  Group,
  Menu,
  SegmentedControl,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import type { MantineColorScheme } from '@mantine/core';
import { IconBook2, IconKeyboard, IconLogout } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { signOut } from '../session/returned';
import { useSession } from '../session/store';
import { openShortcuts } from './shortcuts';

const THEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
];

/** Account of the signed-in person, theme, help and sign-out. */
export function AccountMenu(): ReactNode {
  const state = useSession();
  const email = state.status === 'signed-out' ? '' : state.session.email;
  return (
    <Menu width={232} position="top-start" shadow="md">
      <Menu.Target>
        <UnstyledButton className="switch" w="100%" p={6}>
          <Group wrap="nowrap" gap="sm">
            <Avatar size={28} radius="xl" aria-hidden>
              {email.charAt(0).toUpperCase()}
            </Avatar>
            <Text size="sm" className="truncate">
              <VisuallyHidden>Account </VisuallyHidden>
              {email}
            </Text>
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        <ThemeControl />
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={openShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item component="a" href="/docs" leftSection={<IconBook2 size={16} aria-hidden />}>
          API documentation
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Light, dark, or that of the system. */
export function ThemeControl(): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      fullWidth
      size="xs"
      aria-label="Theme"
      data={THEMES}
      value={colorScheme}
      onChange={(value) => setColorScheme(value as MantineColorScheme)}
    />
  );
}
