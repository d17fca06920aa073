import { ModelPattern } from '../common/text/model-pattern.js';
import type { ModelPrices } from './cost.js';

/** Price that an organization has entered, USD per million tokens. */
export interface OwnPrice {
  /** Pattern for the model name that is sent to the upstream. */
  readonly model: string;
  /** Upstream that the price applies to; absent for all. */
  readonly upstream_id?: number;
  readonly input: number;
  readonly output: number;
  /** `input` if absent. */
  readonly cached_input?: number;
  /** `input` if absent. */
  readonly cache_write?: number;
}

/** Compiled prices of one organization. */
export class OwnPrices {
  private readonly entries: readonly CompiledPrice[];

  constructor(prices: readonly OwnPrice[]) {
    this.entries = prices.map(({ model, upstream_id, input, output, ...other }) => ({
      pattern: new ModelPattern(model),
      upstreamId: upstream_id,
      prices: {
        input,
        output,
        cachedInput: other.cached_input ?? input,
        cacheWrite: other.cache_write ?? input,
      },
    }));
  }

  /** @returns the first entry that matches */
  find(model: string, upstreamId: number): ModelPrices | undefined {
    for (const entry of this.entries) {
      const isOfUpstream = entry.upstreamId === undefined || entry.upstreamId === upstreamId;
      if (isOfUpstream && entry.pattern.matches(model)) return entry.prices;
    }
    return undefined;
  }
}

interface CompiledPrice {
  readonly pattern: ModelPattern;
  readonly upstreamId: number | undefined;
  readonly prices: ModelPrices;
}
