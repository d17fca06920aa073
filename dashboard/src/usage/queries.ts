import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, fetchOrThrow, take } from '../api/client';
import type { Schemas } from '../api/client';
import { rangeQuery } from './view';
import type { Group, Range, UsageView } from './view';

/** Usage record of one request. */
export type UsageRequest = Schemas['UsageRequest'];

const REQUESTS_PER_PAGE = 50;
/** Outcomes that the list shows if it shows errors only. */
const FAILED = ['client_error', 'upstream_error', 'client_gone', 'interrupted', 'no_upstream'] as const;

/** Usage by one group. Keys come with their holders, because their names are not unique. */
export const usageQuery = (id: number, { range, group }: { range: Range; group: Group }) =>
  queryOptions({
    queryKey: ['usage', id, range, group],
    queryFn: () => {
      const query = {
        ...rangeQuery(range, Date.now()),
        group_by: group === 'key' ? [group, 'user' as const] : [group],
      };
      return take(api.GET('/me/organizations/{id}/usage', { params: { path: { id }, query } }));
    },
    placeholderData: keepPreviousData,
  });

/** Requests that pass the filters, which the service applies. */
export const usageRequestsQuery = (id: number, { range, filters, onlyErrors }: UsageView) =>
  infiniteQueryOptions({
    queryKey: ['usage-requests', id, range, filters, onlyErrors],
    queryFn: ({ pageParam }) => {
      const { from } = rangeQuery(range, Date.now());
      const query = {
        from,
        limit: REQUESTS_PER_PAGE,
        ...filterQuery(filters),
        ...(onlyErrors && { outcome: [...FAILED] }),
        ...(pageParam !== null && { cursor: pageParam }),
      };
      return take(api.GET('/me/organizations/{id}/usage/requests', { params: { path: { id }, query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

const RECENT = 20;

/** Finds the record of a request that has just ended. @returns null until it is written */
export async function findUsageRequest(id: number, requestId: string): Promise<UsageRequest | null> {
  const params = { path: { id }, query: { limit: RECENT } };
  const { requests } = await take(api.GET('/me/organizations/{id}/usage/requests', { params }));
  return requests.find(({ request_id }) => request_id === requestId) ?? null;
}

function filterQuery({ model, user, upstream, key }: UsageView['filters']) {
  return {
    ...(model !== undefined && { model: [model] }),
    ...(user !== undefined && { user: [user] }),
    ...(upstream !== undefined && { upstream: [Number(upstream)] }),
    ...(key !== undefined && { key: [Number(key)] }),
  };
}

/** Loads the current view as CSV. */
export async function loadCsv(id: number, view: UsageView): Promise<Blob> {
  const { range, group, tab, filters, onlyErrors } = view;
  const { from, to, bucket } = rangeQuery(range, Date.now());
  const query = new URLSearchParams(
    tab === 'charts'
      ? { from, to, bucket, group_by: group }
      : { from, to, ...filters, ...(onlyErrors && { outcome: FAILED.join(',') }) },
  );
  const path = `/me/organizations/${id}/usage${tab === 'charts' ? '' : '/requests'}?${query.toString()}`;
  const response = await fetchOrThrow(path, { headers: { Accept: 'text/csv' } });
  return response.blob();
}
