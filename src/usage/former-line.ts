import { recordLine } from './record-line.js';
import type { UsageRecord } from './usage-record.js';

const BRACE = 0x7b;

/**
 * A line of JSON, as an earlier version wrote it into a journal that is taken over after an upgrade, as a line of
 * today; any other as it is.
 */
export function currentLine(line: Buffer): Buffer {
  if (line[0] !== BRACE) return line;
  try {
    return Buffer.from(recordLine(JSON.parse(line.toString()) as UsageRecord).slice(0, -1));
  } catch {
    return line;
  }
}
