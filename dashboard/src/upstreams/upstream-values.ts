import type { Schemas } from '../api/client';
import type { Upstream } from './queries';

/** Rule as its fields have it; an empty `as` keeps the name. */
interface RuleValues {
  model: string;
  as: string;
}

/** Upstream as the fields of the form have it. */
export interface UpstreamValues {
  name: string;
  base_url: string;
  api_key: string;
  models: 'all' | 'rules';
  rules: RuleValues[];
  failover: string[];
}

/** Statuses that an upstream may fail over on, with their labels. */
export const FAILOVER_STATUSES = [
  [401, 'key rejected'],
  [402, 'payment required'],
  [403, 'forbidden'],
  [404, 'not found'],
  [408, 'timeout'],
  [409, 'conflict'],
  [413, 'too large'],
  [429, 'rate limited'],
] as const;

type FailoverStatus = (typeof FAILOVER_STATUSES)[number][0];

/** Converts an upstream, or a new one, to the values of its form. */
export function toUpstreamValues(upstream?: Upstream): UpstreamValues {
  if (!upstream) return { name: '', base_url: '', api_key: '', models: 'all', rules: [], failover: [] };
  const { name, base_url, models, failover_on } = upstream;
  return {
    name,
    base_url,
    api_key: '',
    models: models ? 'rules' : 'all',
    rules: (models ?? []).map(({ model, as }) => ({ model, as: as ?? '' })),
    failover: failover_on.map(String),
  };
}

/** Body of a request. */
type Body = Pick<Schemas['CreateUpstream'], 'name' | 'base_url' | 'api_key' | 'models' | 'failover_on'>;

/** Converts the values of the form to a request body. */
export function toUpstreamBody({ models, rules, failover, ...rest }: UpstreamValues): Body {
  return {
    ...rest,
    models: models === 'all' ? null : rules.map(({ model, as }) => ({ model, as: as === '' ? null : as })),
    failover_on: failover.map((status) => Number(status) as FailoverStatus).toSorted((a, b) => a - b),
  };
}
