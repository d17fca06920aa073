import { calcPrice, findProvider } from '@pydantic/genai-prices';
import type { ModelInfo, Provider as ListedProvider, Usage } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import { PROVIDERS } from '../upstreams/provider.js';
import { roundCost } from '../common/text/decimal.js';
import { costOf } from './cost.js';
import type { ModelPrices, PricedTokens } from './cost.js';

/** Ids of providers that differ in the package. `custom` has no counterpart. */
const IDS: Readonly<Record<string, string>> = { xai: 'x-ai' };
const LISTED = PROVIDERS.filter((provider) => provider !== 'custom').toSorted();
const LISTED_IDS: ReadonlySet<string> = new Set(LISTED);
const CACHED_MODELS = 2_000;
const MAX_CACHED_NAME = 256;

/** Prices that the package `@pydantic/genai-prices` has for a model, USD per million tokens; null for unknown parts. */
export interface ListedPrice {
  readonly provider: string;
  readonly model: string;
  readonly input: number | null;
  readonly output: number | null;
  readonly cached_input: number | null;
  readonly cache_write: number | null;
}

/** Models of the list by provider and name. The package tries the patterns of all models of a provider. */
const models = new LRUCache<string, { readonly found: MatchedModel | null }>({ max: CACHED_MODELS });

/** Model of the price list that a name matches. */
interface MatchedModel {
  /** The provider with this model only, which the package finds at once. */
  readonly provider: ListedProvider;
  /** Prices that depend neither on the time nor on the number of tokens; undefined for others. */
  readonly flat: Partial<ModelPrices> | undefined;
}

/** @returns the cost in USD; undefined if the list has no price for the model */
export function listCost(
  tokens: PricedTokens,
  provider: string,
  model: string,
  timeMs: number,
): number | undefined {
  const found = findModel(provider, model, timeMs);
  if (!found) return undefined;
  const flat = found.flat && completePrices(found.flat, tokens);
  if (flat) return costOf(tokens, flat);
  const calculated = calcPrice(toUsage(tokens), model, {
    provider: found.provider,
    timestamp: new Date(timeMs),
  });
  return calculated ? roundCost(calculated.total_price) : undefined;
}

function findModel(provider: string, model: string, timeMs: number): MatchedModel | null {
  if (!LISTED_IDS.has(provider) || model.length > MAX_CACHED_NAME) return null;
  const key = `${provider} ${model}`;
  const known = models.get(key);
  if (known) return known.found;
  const price = calcPrice({}, model, {
    providerId: IDS[provider] ?? provider,
    timestamp: new Date(timeMs),
  });
  const found = price && {
    provider: { ...price.provider, models: [price.model], fallback_model_providers: undefined },
    flat: flatPrices(price.model),
  };
  models.set(key, { found });
  return found;
}

function flatPrices({ prices }: ModelInfo): Partial<ModelPrices> | undefined {
  // Prices per request are left to the package, like those of a time.
  if (Array.isArray(prices) || prices.requests_kcount !== undefined) return undefined;
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = prices;
  const all = {
    input: input_mtok,
    output: output_mtok,
    cachedInput: cache_read_mtok,
    cacheWrite: cache_write_mtok,
  };
  const isFlat = Object.values(all).every((price) => price === undefined || typeof price === 'number');
  return isFlat ? (all as Partial<ModelPrices>) : undefined;
}

/** The package decides what tokens of a kind without a price cost. */
function completePrices(prices: Partial<ModelPrices>, tokens: PricedTokens): ModelPrices | undefined {
  const { input, output, cachedInput, cacheWrite } = prices;
  if (input === undefined || output === undefined) return undefined;
  if (tokens.cached > 0 && cachedInput === undefined) return undefined;
  if (tokens.written > 0 && cacheWrite === undefined) return undefined;
  return { input, output, cachedInput: cachedInput ?? 0, cacheWrite: cacheWrite ?? 0 };
}

/** The package rejects usage whose parts exceed the whole. */
function toUsage({ input, cached, written, output }: PricedTokens): Usage {
  return {
    input_tokens: Math.max(input, cached + written),
    cache_read_tokens: cached,
    cache_write_tokens: written,
    output_tokens: output,
  };
}

function findListed(provider: string): ListedProvider | undefined {
  return findProvider({ providerId: IDS[provider] ?? provider });
}

/** Lists prices by provider and model. @param modelPrefix start of the name of a model */
export function listPrices(
  provider: string | undefined,
  modelPrefix: string,
  max: number,
  now = new Date(),
): ListedPrice[] {
  const prices: ListedPrice[] = [];
  for (const id of LISTED) {
    const listed = provider === undefined || provider === id ? findListed(id) : undefined;
    for (const model of listed?.models.toSorted((a, b) => (a.id < b.id ? -1 : 1)) ?? []) {
      if (prices.length === max) return prices;
      if (model.id.startsWith(modelPrefix)) prices.push(toListed(id, listed!, model, now));
    }
  }
  return prices;
}

function toListed(provider: string, listed: ListedProvider, model: ModelInfo, now: Date): ListedPrice {
  // The pattern of a model need not match its id.
  const only = { ...listed, models: [{ ...model, match: { equals: model.id } }] };
  const price = calcPrice({}, model.id, { provider: only, timestamp: now })?.model_price ?? {};
  const base = (name: string) => {
    const value = price[name];
    return typeof value === 'object' ? value.base : (value ?? null);
  };
  return {
    provider,
    model: model.id,
    input: base('input_mtok'),
    output: base('output_mtok'),
    cached_input: base('cache_read_mtok'),
    cache_write: base('cache_write_mtok'),
  };
}
