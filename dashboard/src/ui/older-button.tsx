import { Button } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  /** Part of an infinite query. */
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  readonly label: string;
}

/** Loads the next page of a list that starts with the newest entry. Shows nothing at the end of the list. */
export function OlderButton({ query, label }: Props): ReactNode {
  if (!query.hasNextPage) return null;
  return (
    <Button
      mt="md"
      variant="default"
      loading={query.isFetchingNextPage}
      onClick={() => void query.fetchNextPage()}
    >
      {label}
    </Button>
  );
}
