import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, fetchWithSession, take } from '../api/client';
import type { Schemas } from '../api/client';
import { ApiError } from '../api/errors';
import { rangeQuery } from './view';
import type { UsageView } from './view';

export type UsageRequest = Schemas['UsageRequest'];

const REQUESTS_PER_PAGE = 50;

export const usageQuery = (id: number, { range, group }: UsageView) =>
  queryOptions({
    queryKey: ['usage', id, range, group],
    queryFn: () => {
      const query = { ...rangeQuery(range, Date.now()), group_by: [group] };
      return take(api.GET('/me/organizations/{id}/usage', { params: { path: { id }, query } }));
    },
    placeholderData: keepPreviousData,
  });

export const usageRequestsQuery = (id: number, { range }: UsageView) =>
  infiniteQueryOptions({
    queryKey: ['usage-requests', id, range],
    queryFn: ({ pageParam }) => {
      const { from } = rangeQuery(range, Date.now());
      const query = { from, limit: REQUESTS_PER_PAGE, ...(pageParam !== null && { cursor: pageParam }) };
      return take(api.GET('/me/organizations/{id}/usage/requests', { params: { path: { id }, query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

/** Loads the current view as CSV. */
export async function loadCsv(id: number, { range, group, tab }: UsageView): Promise<Blob> {
  const { from, to, bucket } = rangeQuery(range, Date.now());
  const query = new URLSearchParams(tab === 'charts' ? { from, to, bucket, group_by: group } : { from, to });
  const path = `/me/organizations/${id}/usage${tab === 'charts' ? '' : '/requests'}?${query.toString()}`;
  const response = await fetchWithSession(path, { headers: { Accept: 'text/csv' } });
  if (!response.ok) throw await ApiError.from(response);
  return response.blob();
}
