import { Tabs } from '@mantine/core';
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import type { NavigateOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Tab that opens a page of an organization. */
export interface RouteTab {
  /** Last segment of the page's path. */
  readonly value: string;
  readonly label: string;
  readonly to: Extract<NavigateOptions['to'], `/o/$owner/${string}`>;
}

interface Props {
  readonly owner: number;
  readonly tabs: readonly RouteTab[];
}

/** Tabs above the pages of a layout. */
export function RouteTabs({ owner, tabs }: Props): ReactNode {
  const navigate = useNavigate();
  const current = useRouterState({ select: ({ location }) => location.pathname.split('/').at(-1)! });
  const openTab = (value: string | null) => {
    const tab = tabs.find((one) => one.value === value);
    if (tab) void navigate({ to: tab.to, params: { owner: String(owner) } });
  };
  return (
    <Tabs value={current} onChange={openTab} keepMounted={false}>
      <Tabs.List>
        {tabs.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={current} pt="md">
        <Outlet />
      </Tabs.Panel>
    </Tabs>
  );
}
