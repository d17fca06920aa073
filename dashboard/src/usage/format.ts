const NUMBER = new Intl.NumberFormat('en');
const SECOND_MS = 1_000;

/** Formats a count. Unknown ones are a dash, which is not the same as zero. */
export function formatNumber(value: number | null): string {
  return value === null ? '–' : NUMBER.format(value);
}

export function formatMs(value: number | null): string {
  if (value === null) return '–';
  return value >= SECOND_MS ? `${(value / SECOND_MS).toFixed(2)} s` : `${Math.round(value)} ms`;
}
