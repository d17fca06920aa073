import { Chip, Group, Input } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { FAILOVER_STATUSES } from './upstream-values';
import type { UpstreamValues } from './upstream-values';

/** Statuses after which the next upstream is tried, besides server errors. */
export function FailoverField({ form }: { form: UseFormReturnType<UpstreamValues> }): ReactNode {
  return (
    <Input.Wrapper
      label="Also try the next upstream after"
      description="Server errors and unreachable upstreams always lead to the next one."
      error={form.errors.failover}
      labelElement="div"
    >
      <Chip.Group multiple {...form.getInputProps('failover')}>
        <Group gap={6} mt={6}>
          {FAILOVER_STATUSES.map(([status, name]) => (
            <Chip key={status} value={String(status)} size="xs">
              {status} {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Input.Wrapper>
  );
}
