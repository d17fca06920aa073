const KIB = 1_024;
const MIB = 1_048_576;

/** `1,000` */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `16 KiB`; a size that is not a whole number of KiB stays in bytes. */
export function bytes(value: number): string {
  if (value % MIB === 0) return `${count(value / MIB)} MiB`;
  return value % KIB === 0 ? `${count(value / KIB)} KiB` : `${count(value)} bytes`;
}

/** `15 s` */
export function seconds(milliseconds: number): string {
  return milliseconds % 1_000 === 0 ? `${count(milliseconds / 1_000)} s` : `${count(milliseconds)} ms`;
}

/** Table in Markdown. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map(escaped).join(' | ')} |`.replace(/ {2,}/g, ' ')).join('\n');
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|');
}
