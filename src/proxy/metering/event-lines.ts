import { skipSpace } from '../json/json-members.js';

const LF = 0x0a;
const CR = 0x0d;
const OPEN_BRACE = 0x7b;
const DATA_FIELD = Buffer.from('data:');
const USAGE_KEY = Buffer.from('"usage"');
const NULL_USAGE = Buffer.from('"usage":null');
const ERROR_KEY = Buffer.from('"error"');

/** Receives a line as indexes, including the line end. A buffer per line would cost more than reading most lines. */
export type LineVisitor = (start: number, end: number) => void;

/** Visits every line of a part of an event stream. */
export function forEachLine(lines: Buffer, visit: LineVisitor): void {
  for (let start = 0; start < lines.length;) {
    const end = lineEnd(lines, start);
    visit(start, end);
    start = end;
  }
}

/** Visits the lines that may report usage or an error. */
export function forEachUsageOrErrorLine(lines: Buffer, visit: LineVisitor): void {
  let usageAt = findUsageKey(lines, 0);
  let errorAt = lines.indexOf(ERROR_KEY);
  while (usageAt >= 0 || errorAt >= 0) {
    const at = usageAt < 0 || (errorAt >= 0 && errorAt < usageAt) ? errorAt : usageAt;
    const end = lineEnd(lines, at);
    visit(lines.lastIndexOf(LF, at) + 1, end);
    if (usageAt >= 0 && usageAt < end) usageAt = findUsageKey(lines, end);
    if (errorAt >= 0 && errorAt < end) errorAt = lines.indexOf(ERROR_KEY, end);
  }
}

export function hasUsageOrError(lines: Buffer): boolean {
  return findUsageKey(lines, 0) >= 0 || lines.includes(ERROR_KEY);
}

/**
 * Finds the JSON object in a `data:` line.
 * @returns the index of the object; -1 if the line has none, as `data: [DONE]`
 */
export function findJsonObject(lines: Buffer, start: number, end: number): number {
  const at = start + DATA_FIELD.length;
  if (at >= end || lines.compare(DATA_FIELD, 0, DATA_FIELD.length, start, at) !== 0) return -1;
  const value = skipSpace(lines, at, end);
  return lines[value] === OPEN_BRACE ? value : -1;
}

/** @returns the index after the empty line at `start`; `start` if there is no empty line */
export function skipEmptyLine(lines: Buffer, start: number): number {
  const at = lines[start] === CR ? start + 1 : start;
  return lines[at] === LF ? at + 1 : start;
}

/** @returns the number of bytes of a line without its line end */
export function lineLength(lines: Buffer, start: number, end: number): number {
  const beforeLf = lines[end - 1] === LF ? end - 1 : end;
  return (lines[beforeLf - 1] === CR ? beforeLf - 1 : beforeLf) - start;
}

/** @returns the index after the end of the line that contains `from` */
function lineEnd(lines: Buffer, from: number): number {
  const at = lines.indexOf(LF, from);
  return at < 0 ? lines.length : at + 1;
}

function findUsageKey(lines: Buffer, from: number): number {
  let at = lines.indexOf(USAGE_KEY, from);
  while (at >= 0 && isNullUsage(lines, at)) at = lines.indexOf(USAGE_KEY, at + NULL_USAGE.length);
  return at;
}

function isNullUsage(lines: Buffer, at: number): boolean {
  const end = at + NULL_USAGE.length;
  return end <= lines.length && lines.compare(NULL_USAGE, 0, NULL_USAGE.length, at, end) === 0;
}
