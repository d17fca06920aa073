import { Violation } from '../common/body/nested-field.js';
import { ID_MAX } from '../common/api/path-id.js';
import { isDecimal } from '../common/text/decimal.js';
import { isPatternText, PATTERN_MAX } from '../common/text/model-pattern.js';
import type { OwnPrice } from './own-prices.js';

export const PRICES_MAX = 500;
/** USD per million tokens. */
export const PRICE_MAX = 1_000_000;
const PRICE_DECIMALS = 4;

/** Parses the member `prices` of a request. */
export function parsePrices(value: unknown): readonly OwnPrice[] | Violation {
  if (!Array.isArray(value) || value.length > PRICES_MAX)
    return new Violation(`must be a list of at most ${PRICES_MAX} prices`);
  const prices: OwnPrice[] = [];
  for (const [i, given] of (value as unknown[]).entries()) {
    const price = parsePrice(given);
    if (price instanceof Violation) return new Violation(`is invalid: price ${i + 1} ${price.message}`);
    prices.push(price);
  }
  return prices;
}

function parsePrice(given: unknown): OwnPrice | Violation {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return new Violation('must be an object with model, input and output');
  const { model, upstream_id: id, ...rest } = given as Record<string, unknown>;
  if (!isPatternText(model))
    return new Violation(`needs a model of 1 to ${PATTERN_MAX} characters without control characters`);
  const hasUpstream = id !== undefined && id !== null;
  if (hasUpstream && !isId(id))
    return new Violation(`needs an upstream_id that is null or an integer from 0 to ${ID_MAX}`);
  const parts = parseParts(rest);
  if (parts instanceof Violation) return parts;
  return hasUpstream ? { model, upstream_id: id, ...parts } : { model, ...parts };
}

type PriceParts = Omit<OwnPrice, 'model' | 'upstream_id'>;

const REQUIRED = ['input', 'output'];
const OPTIONAL = ['cached_input', 'cache_write'];

function parseParts(given: Record<string, unknown>): PriceParts | Violation {
  const present = OPTIONAL.filter((name) => given[name] !== undefined && given[name] !== null);
  const names = [...REQUIRED, ...present];
  const wrong = names.find((name) => !isPrice(given[name]));
  if (wrong !== undefined) return new Violation(`needs ${wrong} ${PRICE}`);
  return Object.fromEntries(names.map((name) => [name, given[name]])) as unknown as PriceParts;
}

const PRICE = `from 0 to ${PRICE_MAX} USD per million tokens, with at most ${PRICE_DECIMALS} decimals`;

function isPrice(value: unknown): value is number {
  return isDecimal(value, PRICE_DECIMALS) && value >= 0 && value <= PRICE_MAX;
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= ID_MAX;
}
