import { toDecimal } from '../common/text/decimal.js';

/** Parts of the price of a request. */
export interface PricedTokens {
  /** Includes `cached` and `written`. */
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

/** Price of a model, USD per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
}

/** Costs have 10 decimals. */
const UNITS_PER_USD = 1e10;
/** Decimals of most prices per million tokens. With so many, costs are multiples of a unit. */
const COMMON_DECIMALS = 4;
const PRICE_UNITS = 10 ** COMMON_DECIMALS;

/** Computes the cost in USD: exact, and rounded half up if it has more than 10 decimals. */
export function costOf(tokens: PricedTokens, prices: ModelPrices): number {
  const { cached, written, output } = tokens;
  const uncached = Math.max(0, tokens.input - cached - written);
  const parts: CostPart[] = [
    [uncached, prices.input],
    [cached, prices.cachedInput],
    [written, prices.cacheWrite],
    [output, prices.output],
  ];
  const hasCommonDecimals = parts.every(([, price]) => toUnits(price) / PRICE_UNITS === price);
  const units = hasCommonDecimals ? unitsOf(parts) : Infinity;
  // Below this limit, every product and sum of whole numbers is exact.
  return (units <= Number.MAX_SAFE_INTEGER ? units : exactUnitsOf(parts)) / UNITS_PER_USD;
}

/** Number of tokens, and USD per million of them. */
type CostPart = readonly [tokens: number, price: number];

function unitsOf(parts: readonly CostPart[]): number {
  return parts.reduce((sum, [tokens, price]) => sum + tokens * toUnits(price), 0);
}

function toUnits(price: number): number {
  return Math.round(price * PRICE_UNITS);
}

function exactUnitsOf(parts: readonly CostPart[]): number {
  const prices = parts.map(([, price]) => toDecimal(price));
  const decimals = Math.max(COMMON_DECIMALS, ...prices.map((price) => price.decimals));
  const sum = parts.reduce((total, [tokens], i) => {
    const { digits, decimals: own } = prices[i]!;
    return total + BigInt(tokens) * digits * 10n ** BigInt(decimals - own);
  }, 0n);
  const unit = 10n ** BigInt(decimals - COMMON_DECIMALS);
  return Number((2n * sum + unit) / (2n * unit));
}
