const NUMBER = new Intl.NumberFormat('en');
const SECOND_MS = 1_000;
const CENT = 0.01;
const DOLLARS = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
/** Small amounts need more digits than cents have. */
const FRACTIONS = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumSignificantDigits: 3,
});

/** Formats a count. Unknown ones are a dash, which is not the same as zero. */
export function formatNumber(value: number | null): string {
  return value === null ? '–' : NUMBER.format(value);
}

/** Formats a duration in milliseconds; from one second on as seconds. */
export function formatMs(value: number | null): string {
  if (value === null) return '–';
  return value >= SECOND_MS ? `${(value / SECOND_MS).toFixed(2)} s` : `${Math.round(value)} ms`;
}

/** Formats an amount of US dollars: with cents, and below them with up to three digits. */
export function formatUsd(value: number | null): string {
  if (value === null) return '–';
  return value === 0 || value >= CENT ? DOLLARS.format(value) : FRACTIONS.format(value);
}
