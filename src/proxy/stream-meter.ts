import { EMPTY } from './empty.js';
import { CUT_SHORT, NOTHING_READ, readingOf } from './meter.js';
import type { Meter, Reading } from './meter.js';
import { readEvent } from './stream-events.js';
import type { EventReading } from './stream-events.js';

/** A line beyond this is passed on, but not read. */
const LINE_LIMIT_BYTES = 8_388_608;
const LF = 10;
const USAGE_KEY = Buffer.from('"usage"');
const NO_USAGE = Buffer.from('"usage":null');
const ERROR_KEY = Buffer.from('"error"');
/** The last event of OpenAI's and of Anthropic's streams, and of Responses, as far as its end tells. */
const LAST_EVENT = /\[DONE\]\s*$|"message_stop"\s*\}\s*$/;
const TAIL_BYTES = 48;
const EMPTY_LINE_BYTES = 2;
const DATA_LENGTH = 'data:'.length;
/** With what an event begins that may be one to read: not `[DONE]`, nor anything but an object. */
const OBJECT_BEGINS = /^data:\s*\{/;
const BEGINNING_BYTES = 16;
/** A stream that breaks its own format so often is not read any more: to fail takes long, and holds up everybody. */
const UNREADABLE_LIMIT = 100;
/** So many events are looked at for the first content. */
const LOOKED_AT_LIMIT = 10_000;

/**
 * Reads the usage out of an event stream. The bytes pass as they come; lines are put together beside them, and
 * parsed only until the first content has come, and where they speak of usage.
 *
 * Where usage was asked for in the client's stead, the event that answers it is left out. Only there, a line
 * whose end has not come waits for it.
 */
export class StreamMeter implements Meter {
  private firstContentAt?: number;
  /** The lines that came last, while there was no content before them, and when. */
  private unseen?: { readonly lines: Buffer; readonly at: number } = undefined;
  private usage?: Record<string, unknown>;
  hasFailed = false;
  private isFinal = false;
  /** Whether the last event of Responses has come. */
  private hasEnded = false;
  /** The end of the last lines that say something. */
  private tail = '';
  private isCumulative = false;
  /** The beginning of a line whose end has not come. */
  private begun: Buffer[] = [];
  private begunBytes = 0;
  private isSkipping = false;
  /** Whether the next line is the empty one behind an event that was left out. */
  private dropsEmptyLine = false;
  private unreadable = 0;
  private lookedAt = 0;

  constructor(private readonly dropsUsage: boolean) {}

  get contentAt(): number | undefined {
    this.lookForContent();
    return this.firstContentAt;
  }

  get isComplete(): boolean {
    return this.hasEnded || LAST_EVENT.test(this.tail);
  }

  pass(chunk: Buffer): Buffer {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end === 0) return this.begin(chunk);
    const tail = chunk.subarray(end);
    const lines = this.endLine(chunk, end);
    const passed = this.dropsUsage ? this.filter(lines) : this.observe(lines, chunk);
    if (tail.length === 0) return passed;
    const begun = this.begin(tail);
    if (!this.dropsUsage) return chunk;
    return begun.length === 0 ? passed : Buffer.concat([passed, begun]);
  }

  rest(): Buffer {
    if (this.isSkipping || this.begunBytes === 0) return EMPTY;
    const line = Buffer.concat(this.begun);
    this.begun = [];
    this.begunBytes = 0;
    if (this.dropsUsage) return this.filter(line);
    this.observe(line, line);
    return EMPTY;
  }

  read(complete: boolean, provider?: string): Reading {
    if (!this.usage) return complete && !this.hasFailed ? NOTHING_READ : CUT_SHORT;
    const isWhole = !this.hasFailed && (this.isFinal || (complete && this.isCumulative));
    return readingOf(this.usage, provider, isWhole);
  }

  /** @returns what is passed on at once */
  private begin(bytes: Buffer): Buffer {
    const passed = this.dropsUsage && !this.isSkipping ? EMPTY : bytes;
    if (this.isSkipping) return passed;
    this.begun.push(bytes);
    this.begunBytes += bytes.length;
    if (this.begunBytes <= LINE_LIMIT_BYTES) return passed;
    const held = this.dropsUsage ? Buffer.concat(this.begun) : bytes;
    this.begun = [];
    this.begunBytes = 0;
    this.isSkipping = true;
    return held;
  }

  /** The lines that are complete now, with the beginning that came before. */
  private endLine(chunk: Buffer, end: number): Buffer {
    const lines = end === chunk.length ? chunk : chunk.subarray(0, end);
    if (this.begunBytes === 0) return lines;
    const joined = Buffer.concat([...this.begun, lines]);
    this.begun = [];
    this.begunBytes = 0;
    return joined;
  }

  private observe(lines: Buffer, passed: Buffer): Buffer {
    this.isSkipping = false;
    this.lookForContent();
    this.keepTail(lines);
    if (isToBeRead(lines)) this.readLines(lines);
    else this.see(lines);
    return passed;
  }

  private filter(lines: Buffer): Buffer {
    this.isSkipping = false;
    this.lookForContent();
    this.keepTail(lines);
    if (this.dropsEmptyLine || isToBeRead(lines)) {
      return Buffer.concat(splitLines(lines).filter((line) => !this.drops(line)));
    }
    this.see(lines);
    return lines;
  }

  private drops(line: Buffer): boolean {
    if (this.dropsEmptyLine) {
      this.dropsEmptyLine = false;
      if (line.length <= 2 && line[line.length - 1] === LF) return true;
    }
    const isUsageOnly = this.readLine(line)?.isUsageOnly === true;
    this.dropsEmptyLine = isUsageOnly;
    return isUsageOnly;
  }

  private keepTail(lines: Buffer): void {
    const { length } = lines;
    if (length > EMPTY_LINE_BYTES)
      this.tail = lines.toString('latin1', Math.max(0, length - TAIL_BYTES), length);
  }

  /** Whether they have content is looked at when more comes: no client waits for that. */
  private see(lines: Buffer): void {
    const isLooking = this.firstContentAt === undefined && this.lookedAt < LOOKED_AT_LIMIT;
    if (isLooking) this.unseen = { lines, at: performance.now() };
  }

  private lookForContent(): void {
    const { unseen } = this;
    if (!unseen) return;
    this.unseen = undefined;
    this.readLines(unseen.lines, unseen.at);
  }

  private readLines(lines: Buffer, at?: number): void {
    for (const line of splitLines(lines)) this.readLine(line, at);
  }

  private eventIn(line: Buffer): EventReading | undefined {
    if (this.unreadable >= UNREADABLE_LIMIT) return undefined;
    if (!OBJECT_BEGINS.test(line.toString('latin1', 0, BEGINNING_BYTES))) return undefined;
    this.lookedAt++;
    const reading = readEvent(line.toString('utf8', DATA_LENGTH, line.length));
    if (!reading) this.unreadable++;
    return reading;
  }

  private readLine(line: Buffer, at = performance.now()): EventReading | undefined {
    const reading = this.eventIn(line);
    if (!reading) return undefined;
    if (reading.hasContent) this.firstContentAt ??= at;
    if (reading.usage) {
      this.usage = { ...this.usage, ...reported(reading.usage) };
      this.isFinal ||= reading.isFinal;
      this.isCumulative = reading.isCumulative;
    }
    this.hasFailed ||= reading.isError;
    this.hasEnded ||= reading.isLast;
    return reading;
  }
}

/** What is null was not said. */
function reported(usage: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

function isToBeRead(lines: Buffer): boolean {
  return mentionsUsage(lines) || lines.includes(ERROR_KEY);
}

function mentionsUsage(lines: Buffer): boolean {
  let at = lines.indexOf(USAGE_KEY);
  while (at >= 0 && lines.indexOf(NO_USAGE, at) === at) at = lines.indexOf(USAGE_KEY, at + NO_USAGE.length);
  return at >= 0;
}

/** Each with its line end. */
function splitLines(lines: Buffer): Buffer[] {
  const split: Buffer[] = [];
  for (let start = 0; start < lines.length;) {
    const end = lines.indexOf(LF, start);
    const next = end < 0 ? lines.length : end + 1;
    split.push(lines.subarray(start, next));
    start = next;
  }
  return split;
}
