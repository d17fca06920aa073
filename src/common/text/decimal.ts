/** Whether a value is a finite number with at most so many decimals. */
export function isDecimal(value: unknown, decimals: number): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Number(value.toFixed(decimals)) === value;
}

/** Number in its shortest decimal form: `digits` divided by 10 to the power of `decimals`. */
export interface Decimal {
  readonly digits: bigint;
  readonly decimals: number;
}

/** Reads the decimal form of a number that is not negative. */
export function toDecimal(value: number): Decimal {
  const [mantissa, exponent = '0'] = String(value).split('e') as [string, string?];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  const decimals = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return decimals < 0 ? { digits: digits * 10n ** BigInt(-decimals), decimals: 0 } : { digits, decimals };
}

const COST_UNITS = 1e10;
/** Digits of a number that are certain. Below this many, a sum or product of doubles is wrong in later ones at most. */
const CERTAIN_DIGITS = 15;

/** Rounds USD half up at the 10th decimal. An error of the last digit of a number does not change the result. */
export function roundCost(usd: number): number {
  const units = usd * COST_UNITS;
  const isShort = Math.abs(units) < 10 ** (CERTAIN_DIGITS - 1);
  return Math.round(isShort ? Number(units.toPrecision(CERTAIN_DIGITS)) : units) / COST_UNITS;
}
