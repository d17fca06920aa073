import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { findUsageRequest } from '../usage/queries';
import { formatUsd } from '../usage/format';
import { Figure } from './figure';

/** Time between two looks for the record, which is written after the response has ended. */
const INTERVAL_MS = 1_000;
const ATTEMPTS = 15;

/** Cost of a request, which appears when its usage record is written. */
export function RequestCost({ requestId }: { requestId: string }): ReactNode {
  const owner = useOwner();
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['request-cost', owner.id, requestId],
    queryFn: () => findUsageRequest(owner.id, requestId),
    refetchInterval: ({ state }) => (state.data || state.dataUpdateCount >= ATTEMPTS ? false : INTERVAL_MS),
  });
  const isPending = !data && dataUpdatedAt === 0;
  const text = data?.cost_usd === null ? 'unknown' : formatUsd(data?.cost_usd ?? null);
  return <Figure label="Cost" value={isPending ? '…' : text} />;
}
