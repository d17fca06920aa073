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

/** Costs are multiples of 1e-10 USD: a price per million tokens has at most 4 decimals. */
const UNITS_PER_USD = 1e10;
/** Decimals of a price per million tokens, as a factor. */
const PRICE_UNITS = 10_000;

/** @returns the exact cost in USD */
export function costOf(tokens: PricedTokens, prices: ModelPrices): number {
  const { cached, written, output } = tokens;
  const uncached = Math.max(0, tokens.input - cached - written);
  const [input, cachedInput] = [toUnits(prices.input), toUnits(prices.cachedInput)];
  const [cacheWrite, outputPrice] = [toUnits(prices.cacheWrite), toUnits(prices.output)];
  const units = uncached * input + cached * cachedInput + written * cacheWrite + output * outputPrice;
  // Below this limit, every product and sum of whole numbers is exact.
  if (units <= Number.MAX_SAFE_INTEGER) return units / UNITS_PER_USD;
  const exact =
    product(uncached, input) +
    product(cached, cachedInput) +
    product(written, cacheWrite) +
    product(output, outputPrice);
  return Number(exact) / UNITS_PER_USD;
}

function toUnits(price: number): number {
  return Math.round(price * PRICE_UNITS);
}

function product(tokens: number, units: number): bigint {
  return BigInt(tokens) * BigInt(units);
}

/** Rounds half up at the 10th decimal. */
export function roundCost(usd: number): number {
  return Math.round(usd * UNITS_PER_USD) / UNITS_PER_USD;
}
