import { Paper, SimpleGrid, Skeleton, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { useOwner } from '../organizations/owner';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { formatMs, formatNumber, formatUsd } from './format';
import { usageQuery } from './queries';
import { chartSeries, topList } from './series';
import { UnpricedHint } from './unpriced-hint';
import type { Metric, UsageView } from './view';

const Chart = lazy(() => import('./chart'));

const CHART_HEIGHT = 280;
const METRICS: readonly (readonly [Metric, string])[] = [
  ['requests', 'Requests'],
  ['tokens', 'Tokens'],
  ['cost', 'Cost'],
  ['errors', 'Errors'],
  ['latency', 'Latency (p95)'],
];

interface Props {
  readonly view: UsageView;
  readonly onMetric: (metric: Metric) => void;
}

/** Totals, a chart of one of them, and the largest groups. */
export function UsageCharts({ view, onMetric }: Props): ReactNode {
  const owner = useOwner();
  const usage = useQuery(usageQuery(owner.id, view));
  return (
    <Loaded query={usage} skeleton={<Skeleton height={CHART_HEIGHT + 140} />}>
      {(data) =>
        data.totals.requests === 0 ? (
          <EmptyState
            icon={IconChartBar}
            title="No requests in this time"
            text="Mint a key, give it to a tool, and its requests appear here. The playground sends one, too."
          />
        ) : (
          <Stack>
            <Totals totals={data.totals} metric={view.metric} onMetric={onMetric} />
            <UnpricedHint totals={data.totals} />
            <Paper
              withBorder
              radius="lg"
              p="md"
              className="chart"
              style={{ opacity: usage.isPlaceholderData ? 0.6 : 1 }}
            >
              <Suspense fallback={<Skeleton height={CHART_HEIGHT} />}>
                <Chart
                  series={chartSeries(data, view.group, view.metric)}
                  metric={view.metric}
                  height={CHART_HEIGHT}
                />
              </Suspense>
            </Paper>
            <TopTable usage={data} view={view} />
          </Stack>
        )
      }
    </Loaded>
  );
}

interface TotalsProps {
  readonly totals: Schemas['UsageMeasures'];
  readonly metric: Metric;
  readonly onMetric: (metric: Metric) => void;
}

/** Each total selects the metric of the chart. */
function Totals({ totals, metric, onMetric }: TotalsProps): ReactNode {
  const values: Record<Metric, string> = {
    requests: formatNumber(totals.requests),
    tokens: formatNumber(totals.total_tokens),
    cost: formatUsd(totals.cost_usd),
    errors: formatNumber(totals.errors),
    latency: formatMs(totals.latency_ms.p95),
  };
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, sm: 5 }} spacing="sm">
      {METRICS.map(([name, label]) => (
        <UnstyledButton
          key={name}
          className="total"
          aria-pressed={name === metric}
          onClick={() => onMetric(name)}
        >
          <Text size="sm" c="dimmed">
            {label}
          </Text>
          <Text fw={700} size="xl">
            {values[name]}
          </Text>
        </UnstyledButton>
      ))}
    </SimpleGrid>
  );
}

const TOP_COUNT = 20;

function TopTable({ usage, view }: { usage: Schemas['Usage']; view: UsageView }): ReactNode {
  const entries = topList(usage, view.group, view.metric).slice(0, TOP_COUNT);
  return (
    <Paper withBorder radius="lg">
      <Table.ScrollContainer minWidth={560}>
        <Table verticalSpacing="sm" horizontalSpacing="md" aria-label={`Top list by ${view.group}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="capitalize">{view.group === 'user' ? 'member' : view.group}</Table.Th>
              <Table.Th ta="right">Requests</Table.Th>
              <Table.Th ta="right">Tokens</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
              <Table.Th ta="right">Errors</Table.Th>
              <Table.Th ta="right">Average latency</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {entries.map(({ id, name, requests, tokens, cost, errors, latencyMs }) => (
              <Table.Tr key={id}>
                <Table.Td>{name}</Table.Td>
                <Table.Td ta="right">{formatNumber(requests)}</Table.Td>
                <Table.Td ta="right">{formatNumber(tokens)}</Table.Td>
                <Table.Td ta="right">{formatUsd(cost)}</Table.Td>
                <Table.Td ta="right">{formatNumber(errors)}</Table.Td>
                <Table.Td ta="right">{formatMs(latencyMs)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}
