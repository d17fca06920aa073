import { Tabs } from '@mantine/core';
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { PageHeader } from '../ui/page-header';

const TABS = [
  { value: 'settings', label: 'General', to: '/o/$owner/settings' },
  { value: 'limits', label: 'Limits', to: '/o/$owner/settings/limits' },
  { value: 'prices', label: 'Prices', to: '/o/$owner/settings/prices' },
] as const;

/** Frame of the pages with settings. */
export function SettingsLayout(): ReactNode {
  const owner = useOwner();
  const navigate = useNavigate();
  const current = useRouterState({ select: ({ location }) => location.pathname.split('/').at(-1)! });
  const openTab = (value: string | null) => {
    const tab = TABS.find((one) => one.value === value);
    if (tab) void navigate({ to: tab.to, params: { owner: String(owner.id) } });
  };
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs value={current} onChange={openTab} keepMounted={false}>
        <Tabs.List>
          {TABS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={current} pt="md">
          <Outlet />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
