import { costOf } from './cost.js';
import type { PricedTokens } from './cost.js';
import type { OwnPrices } from './own-prices.js';
import { listCost } from './price-list.js';

/** Figures of a usage record; null if unknown. */
export interface TokenFigures {
  readonly input_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly output_tokens: number | null;
}

/** Model that a request was sent to. */
export interface PricedModel {
  /** Name sent to the upstream; null if the request named none. */
  readonly name: string | null;
  readonly upstreamId: number;
  readonly provider: string;
  /** Time of the request; Unix time in milliseconds. */
  readonly timeMs: number;
}

/** Cost of a request and the origin of its price. */
export interface RequestCost {
  /** USD with at most 10 decimals; null if unknown. */
  readonly usd: number | null;
  /** Own prices, the price list, or no price. */
  readonly source: 'own' | 'list' | 'none';
}

/** Cost of a request whose tokens or price are unknown. */
export const UNKNOWN_COST: RequestCost = { usd: null, source: 'none' };
/** Cost of a request that used no tokens. */
export const NO_COST: RequestCost = { usd: 0, source: 'none' };

/** Computes the cost of a request that used tokens, from the owner's prices or else from the price list. */
export function requestCost(
  figures: TokenFigures,
  { name, upstreamId, provider, timeMs }: PricedModel,
  own: OwnPrices | undefined,
): RequestCost {
  const tokens = toPricedTokens(figures);
  if (!tokens) return UNKNOWN_COST;
  if (tokens.input === 0 && tokens.output === 0 && isComplete(figures)) return NO_COST;
  if (name === null) return UNKNOWN_COST;
  const prices = own?.find(name, upstreamId);
  if (prices) return { usd: costOf(tokens, prices), source: 'own' };
  const listed = listCost(tokens, provider, name, timeMs);
  return listed === undefined ? UNKNOWN_COST : { usd: listed, source: 'list' };
}

/** @returns undefined if neither the input nor the output is known */
function toPricedTokens(figures: TokenFigures): PricedTokens | undefined {
  const { input_tokens: input, output_tokens: output } = figures;
  if (input === null && output === null) return undefined;
  return {
    input: input ?? 0,
    cached: figures.cached_input_tokens ?? 0,
    written: figures.cache_write_tokens ?? 0,
    output: output ?? 0,
  };
}

function isComplete({ input_tokens: input, output_tokens: output }: TokenFigures): boolean {
  return input !== null && output !== null;
}
