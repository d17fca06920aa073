import { Button, Group, NativeSelect, SegmentedControl } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { save } from '../documents/download';
import { BudgetOverview } from '../limits/budget-overview';
import { useOwner } from '../organizations/owner';
import { usageRoute } from '../routes';
import { PageHeader } from '../ui/page-header';
import { loadCsv } from './queries';
import { RequestList } from './request-list';
import { UsageCharts } from './usage-charts';
import { parseUsageView } from './view';
import type { UsageView } from './view';

const RANGES = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
];
const TABS = [
  { value: 'charts', label: 'Charts' },
  { value: 'requests', label: 'Requests' },
];
const GROUPS = [
  { value: 'model', label: 'by model' },
  { value: 'upstream', label: 'by upstream' },
  { value: 'key', label: 'by key' },
  { value: 'user', label: 'by member' },
  { value: 'provider', label: 'by provider' },
];

/** Requests, tokens and costs over time, and the list of requests. */
export function UsagePage(): ReactNode {
  const owner = useOwner();
  const search = usageRoute.useSearch();
  const view = parseUsageView(search);
  const navigate = useNavigate({ from: usageRoute.fullPath });
  const change = (part: Record<string, string | undefined>) =>
    void navigate({ search: { ...search, ...part } });
  const download = useMutation({
    mutationFn: async () => save(await loadCsv(owner.id, view), `usage-${view.tab}-${view.range}.csv`),
  });
  return (
    <>
      <PageHeader title="Usage" text="Requests through mintkeep, without their contents.">
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          CSV
        </Button>
      </PageHeader>
      <BudgetOverview />
      <Filters view={view} onChange={change} />
      {view.tab === 'charts' ? (
        <UsageCharts view={view} onMetric={(metric) => change({ metric })} />
      ) : (
        <RequestList view={view} onChange={change} />
      )}
    </>
  );
}

interface FiltersProps {
  readonly view: UsageView;
  readonly onChange: (part: Record<string, string>) => void;
}

function Filters({ view, onChange }: FiltersProps): ReactNode {
  return (
    <Group mb="md" gap="sm">
      <SegmentedControl
        size="xs"
        aria-label="View"
        data={TABS}
        value={view.tab}
        onChange={(tab) => onChange({ tab })}
      />
      <SegmentedControl
        size="xs"
        aria-label="Range"
        data={RANGES}
        value={view.range}
        onChange={(range) => onChange({ range })}
      />
      {view.tab === 'charts' && (
        <NativeSelect
          size="xs"
          aria-label="Group"
          data={GROUPS}
          value={view.group}
          onChange={(event) => onChange({ group: event.currentTarget.value })}
        />
      )}
    </Group>
  );
}
