import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';

/** Provider's API with its place in the pool. */
export type Upstream = Schemas['Upstream'];
/** Result of a connection test. */
export type UpstreamTest = Schemas['UpstreamCheck'];

const LIST = '/me/organizations/{id}/upstreams';
const ONE = '/me/organizations/{id}/upstreams/{upstream_id}';

/** Upstreams in the order in which they are tried. */
export const upstreamsQuery = (id: number) =>
  queryOptions({
    queryKey: ['upstreams', id],
    queryFn: async () => (await take(api.GET(LIST, { params: { path: { id } } }))).upstreams,
  });

/** Adds an upstream to the organization. */
export async function createUpstream(id: number, body: Schemas['CreateUpstream']): Promise<Upstream> {
  const upstream = await take(api.POST(LIST, { params: { path: { id } }, body }));
  await refresh(id);
  return upstream;
}

/** Changes the given members of an upstream. */
export async function updateUpstream(
  id: number,
  upstream: number,
  body: Schemas['UpdateUpstream'],
): Promise<Upstream> {
  const updated = await take(api.PUT(ONE, { params: { path: { id, upstream_id: upstream } }, body }));
  await refresh(id);
  return updated;
}

/** Deletes an upstream with its API key. */
export async function deleteUpstream(id: number, upstream: number): Promise<void> {
  await take(api.DELETE(ONE, { params: { path: { id, upstream_id: upstream } } }));
  await refresh(id);
}

/** Sends a test request to the provider. */
export function testUpstream(id: number, upstream: number): Promise<UpstreamTest> {
  const params = { path: { id, upstream_id: upstream } };
  return take(api.POST('/me/organizations/{id}/upstreams/{upstream_id}/test', { params }));
}

/** Shows the new order at once, and stores the priorities that it changes. */
export async function reorderUpstreams(
  id: number,
  ordered: readonly Upstream[],
  changes: readonly Priority[],
): Promise<void> {
  const { queryKey } = upstreamsQuery(id);
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, [...ordered]);
  try {
    for (const { upstream, priority } of changes)
      await take(api.PUT(ONE, { params: { path: { id, upstream_id: upstream } }, body: { priority } }));
  } finally {
    await refresh(id);
  }
}

/** New priority of an upstream. */
export interface Priority {
  readonly upstream: number;
  readonly priority: number;
}

function refresh(id: number): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: upstreamsQuery(id).queryKey });
}
