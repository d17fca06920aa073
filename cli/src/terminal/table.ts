import { printable } from './printable.js';

/** Column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isNumber?: boolean;
}

const GAP = '  ';

/** Formats rows below a line of titles. Numbers are aligned to the right. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ value }) => printable(value(row)))),
  ];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i]!.length)));
  const lines = cells.map((line) =>
    line
      .map((cell, i) => (columns[i]!.isNumber ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join(GAP)
      .trimEnd(),
  );
  return lines.join('\n');
}

/** Formats pairs of a name and a value, one on each line. */
export function pairs(values: readonly (readonly [string, string])[]): string {
  const width = Math.max(...values.map(([name]) => name.length));
  return values.map(([name, value]) => `${name.padEnd(width)}${GAP}${printable(value)}`).join('\n');
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a bar in proportion to a value; the largest value has `width` characters. */
export function bar(value: number, largest: number, width: number): string {
  if (largest <= 0) return '';
  const eighths = Math.round((value / largest) * width * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}
