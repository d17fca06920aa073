/** Whether a value is a finite number with at most so many decimals. */
export function isDecimal(value: unknown, decimals: number): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Number(value.toFixed(decimals)) === value;
}
