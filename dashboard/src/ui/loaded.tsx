import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice';
import { ListSkeleton } from './skeletons';

interface Props<T> {
  readonly query: UseQueryResult<T>;
  readonly skeleton?: ReactNode;
  readonly children: (data: T) => ReactNode;
}

/** Shows the data of a query, or that it is loading, or why it cannot be loaded. Old data stays during an outage. */
export function Loaded<T>({ query, skeleton = <ListSkeleton />, children }: Props<T>): ReactNode {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  return skeleton;
}
