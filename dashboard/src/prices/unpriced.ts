import type { Schemas } from '../api/client';
import { matchesPattern, sentModel } from './model-pattern';
import type { Price } from './queries';

type Upstream = Pick<Schemas['Upstream'], 'id' | 'models'>;
type Usage = Pick<Schemas['Usage'], 'buckets'>;

/** Model that was used without a known price. */
export interface UnpricedModel {
  /** Name that the upstream got. */
  readonly model: string;
  readonly upstreamId: number | null;
  readonly upstreamName: string | null;
  readonly requests: number;
}

/**
 * Models with requests of unknown cost, the most used first. Models that a price covers meanwhile are left out.
 * Requests without token counts are, too: a price would not help.
 * @param upstreams known ones; their rules tell the names that prices are for
 */
export function unpricedModels(
  { buckets }: Usage,
  upstreams: readonly Upstream[],
  prices: readonly Price[],
): UnpricedModel[] {
  const found = new Map<string, UnpricedModel>();
  for (const group of buckets.flatMap(({ groups }) => groups)) {
    if (!isUnpriced(group)) continue;
    const { upstream_id: upstreamId = null, upstream_name: upstreamName = null } = group;
    const rules = upstreams.find(({ id }) => id === upstreamId)?.models ?? null;
    const model = sentModel(rules, group.model);
    if (prices.some((price) => covers(price, model, upstreamId))) continue;
    const id = JSON.stringify([model, upstreamId]);
    const requests = (found.get(id)?.requests ?? 0) + group.unpriced_requests;
    found.set(id, { model, upstreamId, upstreamName, requests });
  }
  return [...found.values()].toSorted((a, b) => b.requests - a.requests);
}

type Group = Usage['buckets'][number]['groups'][number];

/** Whether a price for the group's model was missing. */
function isUnpriced(group: Group): group is Group & { model: string } {
  const hasTokens = group.total_tokens !== null;
  return typeof group.model === 'string' && group.unpriced_requests > 0 && hasTokens && !group.cost_usd;
}

function covers(price: Price, model: string, upstream: number | null): boolean {
  const isForUpstream = price.upstream_id === undefined || price.upstream_id === upstream;
  return isForUpstream && matchesPattern(price.model, model);
}

/**
 * Adds a price where it takes effect: before the first pattern with a star, if it has none itself, else at the end.
 * The first price that matches wins.
 */
export function insertPrice(prices: readonly Price[], price: Price): Price[] {
  const hasStar = ({ model }: Price) => model.includes('*');
  const index = hasStar(price) ? -1 : prices.findIndex(hasStar);
  return index < 0 ? [...prices, price] : prices.toSpliced(index, 0, price);
}
