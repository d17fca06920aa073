import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

const ROW_HEIGHT = 56;

/** Stands for a form that is loading. */
export function FormSkeleton(): ReactNode {
  return (
    <Stack aria-busy="true" aria-label="Loading">
      <Skeleton height={66} />
      <Skeleton height={42} />
    </Stack>
  );
}

/** Stands for a list that is loading. */
export function ListSkeleton({ rows = 5 }: { rows?: number }): ReactNode {
  return (
    <Stack gap="xs" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={ROW_HEIGHT} />
      ))}
    </Stack>
  );
}
