/** A Markdown table. The first columns are text and the others numbers. */
export function markdownTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns = 1,
): string {
  const rule = columns.map((_, index) => (index < textColumns ? '---' : '---:'));
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A number with thousands separators; a dash for NaN, which stands for a missing measurement. */
export function formatNumber(value: number, digits = 0): string {
  if (Number.isNaN(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
