import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Value with its label above it. */
export function Figure({ label, value }: { label: string; value: string }): ReactNode {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" fw={600}>
        {value}
      </Text>
    </div>
  );
}
