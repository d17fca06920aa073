/** A markdown table whose first columns are text and whose others are numbers. */
export function markdownTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns = 1,
): string {
  const rule = columns.map((_, index) => (index < textColumns ? '---' : '---:'));
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** With separators of thousands. */
export function number(value: number, digits = 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
