import type { PoolUpstream } from '../../upstreams/upstreams.service.js';
import type { Pool } from './pools.js';

/** Selects the upstreams that serve a model, in the order of the pool. A request without a model may go to all of them. */
export function upstreamsFor(
  { upstreams, hasModelRules }: Pool,
  model: string | undefined,
): readonly PoolUpstream[] {
  if (model === undefined || !hasModelRules) return upstreams;
  return upstreams.filter(({ rules }) => !rules || rules.find(model));
}
