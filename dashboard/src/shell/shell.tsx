import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { ExpiredDialog } from '../session/expired-dialog';
import { useSession } from '../session/store';
import { Logo } from '../ui/logo';
import { AccountMenu } from './account-menu';
import { Leftovers } from './leftovers';
import { NavLinks } from './nav-links';
import { OwnerSwitch } from './owner-switch';
import { PaletteButton } from './palette-button';
import { Shortcuts } from './shortcuts';
import { useLeaveAfterSignOut } from './sign-out';

const NAVBAR = { width: 248, breakpoint: 'sm' } as const;
const HEADER_HEIGHT = 52;

/** Frame of all pages: navigation at the left, on phones above the page. */
export function Shell(): ReactNode {
  const [isOpen, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(close, [path, close]);
  useLeaveAfterSignOut();
  // Pages require a session, and would fail before the sign-in page opens.
  if (useSession().status === 'signed-out') return null;
  return (
    <AppShell
      header={{ height: { base: HEADER_HEIGHT, sm: 0 } }}
      navbar={{ ...NAVBAR, collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a href="#main" className="skip-link">
        Skip to the content
      </a>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" justify="space-between">
          <Group gap="xs">
            <Logo size={26} />
            <strong>mintkeep</strong>
          </Group>
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label="Navigation" aria-expanded={isOpen} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" className="ground" aria-label="Main">
        <AppShell.Section>
          <OwnerSwitch />
          <PaletteButton />
        </AppShell.Section>
        <AppShell.Section grow my="sm">
          <NavLinks />
        </AppShell.Section>
        <AppShell.Section>
          <AccountMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <div className="page">
          <Leftovers />
          <Outlet />
        </div>
      </AppShell.Main>
      <Shortcuts />
      <ExpiredDialog />
    </AppShell>
  );
}
