import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { PageHeader } from '../ui/page-header';
import { RouteTabs } from '../ui/route-tabs';
import type { RouteTab } from '../ui/route-tabs';

const TABS: readonly RouteTab[] = [
  { value: 'settings', label: 'General', to: '/o/$owner/settings' },
  { value: 'limits', label: 'Limits', to: '/o/$owner/settings/limits' },
  { value: 'prices', label: 'Prices', to: '/o/$owner/settings/prices' },
];

/** Frame of the pages with settings. */
export function SettingsLayout(): ReactNode {
  const owner = useOwner();
  return (
    <>
      <PageHeader title="Settings" />
      <RouteTabs owner={owner.id} tabs={TABS} />
    </>
  );
}
