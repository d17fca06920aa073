import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';
import { rangeQuery } from '../usage/view';

/** Own price in USD per million tokens. */
export type Price = Schemas['Prices']['prices'][number];

const PATH = '/me/organizations/{id}/prices';

/** Own prices of an organization. The first one that matches wins. */
export const pricesQuery = (id: number) =>
  queryOptions({
    queryKey: ['prices', id],
    queryFn: async () => (await take(api.GET(PATH, { params: { path: { id } } }))).prices,
  });

/** Changes the stored list. It is read first, so that a change of someone else is kept. */
export async function changePrices(id: number, change: (prices: Price[]) => Price[]): Promise<void> {
  const params = { path: { id } };
  const { prices: current } = await take(api.GET(PATH, { params }));
  const { prices } = await take(api.PUT(PATH, { params, body: { prices: change(current) } }));
  queryClient.setQueryData(pricesQuery(id).queryKey, prices);
}

/** Usage by model and upstream, which shows requests without a cost. */
export const unpricedUsageQuery = (id: number) =>
  queryOptions({
    queryKey: ['usage', id, 'unpriced'],
    queryFn: () => {
      const { from, to } = rangeQuery('30d', Date.now());
      const query = { from, to, group_by: ['model' as const, 'upstream' as const] };
      return take(api.GET('/me/organizations/{id}/usage', { params: { path: { id }, query } }));
    },
  });
