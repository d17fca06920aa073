import { Group, Progress, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatNumber, formatUsd } from '../usage/format';
import { PERIODS } from './limit-values';
import type { LimitSet, LimitStatus } from './queries';

const PERCENT = 100;
/** Share from which a limit is nearly reached. The service notifies admins at the same share. */
const WARNING_PERCENT = 80;

interface Props {
  readonly limits: LimitSet;
  readonly status: LimitStatus;
  /** Names the bars for screen readers, such as the team. */
  readonly of: string;
}

/** Shows the part of each limit that is used, and what remains. Shows nothing without such limits. */
export function Consumption({ limits, status, of }: Props): ReactNode {
  const { requests_per_minute: requests, tokens_per_minute: tokens, budget } = limits;
  if (requests === null && tokens === null && budget === null) return null;
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="lg">
      {budget && status.budget && <BudgetBar budget={budget} status={status.budget} of={of} />}
      {requests !== null && (
        <Bar
          label="Requests, last minute"
          of={of}
          used={status.requests_last_minute}
          limit={requests}
          format={formatNumber}
        />
      )}
      {tokens !== null && (
        <Bar
          label="Tokens, last minute"
          of={of}
          used={status.tokens_last_minute}
          limit={tokens}
          format={formatNumber}
        />
      )}
    </SimpleGrid>
  );
}

interface BudgetProps {
  readonly budget: NonNullable<LimitSet['budget']>;
  readonly status: NonNullable<LimitStatus['budget']>;
  readonly of: string;
}

function BudgetBar({ budget, status, of }: BudgetProps): ReactNode {
  const period = PERIODS.find(({ value }) => value === budget.period)!.label;
  const end = status.period_end === null ? '' : `, renewed ${formatEnd(status.period_end)}`;
  return (
    <Bar
      label={`Budget ${period}`}
      of={of}
      used={status.spent_usd}
      limit={budget.usd}
      format={formatUsd}
      note={status.is_exceeded ? `Used up${end}` : `${formatUsd(status.remaining_usd)} left${end}`}
    />
  );
}

interface BarProps {
  readonly label: string;
  readonly of: string;
  readonly used: number;
  readonly limit: number;
  readonly format: (value: number) => string;
  readonly note?: string;
}

function Bar({ label, of, used, limit, format, note }: BarProps): ReactNode {
  const percent = Math.min(PERCENT, (used / limit) * PERCENT);
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm">{label}</Text>
        <Text size="sm" fw={600}>
          {format(used)} of {format(limit)}
        </Text>
      </Group>
      <Progress.Root>
        <Progress.Section value={percent} color={colorOf(percent)} aria-label={`${label} of ${of}`} />
      </Progress.Root>
      {note && (
        <Text size="xs" c="dimmed" mt={4}>
          {note}
        </Text>
      )}
    </div>
  );
}

function colorOf(percent: number): string {
  if (percent >= PERCENT) return 'red';
  return percent >= WARNING_PERCENT ? 'orange' : 'mint';
}

/** Periods end at midnight in UTC. */
function formatEnd(time: string): string {
  return new Date(time).toLocaleDateString('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
}
