import { NavLink, Skeleton, Stack } from '@mantine/core';
import {
  IconChartBar,
  IconFolders,
  IconKey,
  IconPlayerPlay,
  IconPlugConnected,
  IconSettings,
  IconUsers,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import type { Organization } from '../organizations/queries';
import { useCurrentOwner } from './current-owner';

interface Entry {
  readonly label: string;
  readonly to: LinkProps['to'];
  readonly icon: ComponentType<{ size?: number; stroke?: number }>;
  /** Hides the entry from owners that have no such page, or members who may not open it. */
  readonly isShown?: (owner: Organization) => boolean;
}

const ENTRIES: readonly Entry[] = [
  { label: 'Projects', to: '/o/$owner/projects', icon: IconFolders },
  { label: 'Keys', to: '/o/$owner/keys', icon: IconKey },
  {
    label: 'Upstreams',
    to: '/o/$owner/upstreams',
    icon: IconPlugConnected,
    isShown: ({ role }) => role === 'admin',
  },
  { label: 'Playground', to: '/o/$owner/playground', icon: IconPlayerPlay },
  { label: 'Usage', to: '/o/$owner/usage', icon: IconChartBar },
  { label: 'Members', to: '/o/$owner/members', icon: IconUsers, isShown: ({ kind }) => kind === 'team' },
  { label: 'Settings', to: '/o/$owner/settings', icon: IconSettings },
];

/** Links to the areas of the current organization. */
export function NavLinks(): ReactNode {
  const owner = useCurrentOwner();
  if (!owner) return <Skeleton height={160} />;
  const entries = ENTRIES.filter(({ isShown }) => isShown?.(owner) ?? true);
  return (
    <Stack gap={2}>
      {entries.map(({ label, to, icon: Icon }) => (
        <NavLink
          key={label}
          label={label}
          className="nav-link"
          leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
          renderRoot={(props) => <Link to={to} params={{ owner: String(owner.id) }} {...props} />}
        />
      ))}
    </Stack>
  );
}
