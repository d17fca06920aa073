import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import {
  forEachLine,
  forEachUsageOrErrorLine,
  hasUsageOrError,
  lineLength,
  findJsonObject,
  skipEmptyLine,
} from './event-lines.js';
import { BufferList } from '../wire/buffer-list.js';
import { INCOMPLETE_USAGE, NO_USAGE, toMeteredUsage } from './meter.js';
import type { Meter, MeteredUsage } from './meter.js';
import { mergeUsage } from './merge-usage.js';
import { parseEvent } from './stream-events.js';
import type { ParsedEvent } from './stream-events.js';
import type { ProviderUsage } from './token-counts.js';

/** Longer lines are relayed without being parsed. */
export const LINE_LIMIT_BYTES = 1_048_576;
const LF = 10;
/** End of the last event of OpenAI's and Anthropic's streams. */
const LAST_EVENT = /\[DONE\]\s*$|"message_stop"\s*\}\s*$/;
const TAIL_BYTES = 48;
const EMPTY_LINE_BYTES = 2;
/** Events with invalid JSON after which parsing stops, because failed parses are slow and block the process. */
const INVALID_LIMIT = 100;
/** Maximum number of events that are searched for the first content. */
const SEARCHED_LIMIT = 10_000;

/**
 * Reads the usage in an event stream. Relays bytes at once and collects lines aside. Parses lines only until the first
 * content, and lines with usage or errors.
 *
 * If mintkeep asked for the usage, the usage event is dropped. Only then, an incomplete line waits for its end.
 */
export class StreamMeter implements Meter {
  private contentTime?: number;
  /** Latest lines with their time of arrival, until they are searched for the first content. */
  private unsearched?: { readonly lines: Buffer; readonly at: number } = undefined;
  private usage?: ProviderUsage;
  hasError = false;
  private isFinal = false;
  /** Whether the last event of an OpenAI Responses stream has arrived. */
  private hasEnded = false;
  /** End of the latest lines that are not empty. */
  private tail = '';
  private isCumulative = false;
  /** Start of a line whose end has not arrived. */
  private readonly partialLine = new BufferList();
  /** Whether the current line exceeds the limit. */
  private isSkipping = false;
  /** Whether the next line is the empty line after a dropped event. */
  private dropsEmptyLine = false;
  private invalidEvents = 0;
  private searchedEvents = 0;

  constructor(private readonly dropsUsage: boolean) {}

  firstContentAt(): number | undefined {
    this.findContent();
    return this.contentTime;
  }

  get isComplete(): boolean {
    return this.hasEnded || LAST_EVENT.test(this.tail);
  }

  transform(chunk: Buffer): Buffer {
    if (this.isSkipping) return this.skipLine(chunk);
    const end = chunk.lastIndexOf(LF) + 1;
    if (end === 0) return this.startLine(chunk);
    const output = this.readLines(this.endLine(chunk, end));
    const held = end === chunk.length ? EMPTY_BUFFER : this.startLine(chunk.subarray(end));
    if (!this.dropsUsage) return chunk;
    return held.length === 0 ? output : Buffer.concat([output, held]);
  }

  flush(): Buffer {
    if (this.partialLine.length === 0) return EMPTY_BUFFER;
    const output = this.readLines(this.partialLine.toBuffer());
    this.partialLine.clear();
    return this.dropsUsage ? output : EMPTY_BUFFER;
  }

  readUsage(isComplete: boolean, provider?: string): MeteredUsage {
    if (!this.usage) return isComplete && !this.hasError ? NO_USAGE : INCOMPLETE_USAGE;
    const isFinal = !this.hasError && (this.isFinal || (isComplete && this.isCumulative));
    return toMeteredUsage(this.usage, provider, isFinal);
  }

  /** Relays the rest of a line that exceeds the limit, and reads the lines after it. */
  private skipLine(chunk: Buffer): Buffer {
    const end = chunk.indexOf(LF) + 1;
    if (end === 0) return chunk;
    this.isSkipping = false;
    if (end === chunk.length) return chunk;
    const output = this.transform(chunk.subarray(end));
    return this.dropsUsage ? Buffer.concat([chunk.subarray(0, end), output]) : chunk;
  }

  /** @returns the bytes to relay at once */
  private startLine(bytes: Buffer): Buffer {
    this.partialLine.append(bytes);
    // The last byte may be the carriage return of the line end.
    if (this.partialLine.length <= LINE_LIMIT_BYTES + 1) return this.dropsUsage ? EMPTY_BUFFER : bytes;
    const output = this.dropsUsage ? this.partialLine.toBuffer() : bytes;
    this.partialLine.clear();
    this.isSkipping = true;
    return output;
  }

  /** @returns the complete lines, including the start that arrived before */
  private endLine(chunk: Buffer, end: number): Buffer {
    const lines = end === chunk.length ? chunk : chunk.subarray(0, end);
    if (this.partialLine.length === 0) return lines;
    const joined = Buffer.concat([...this.partialLine.toBuffers(), lines]);
    this.partialLine.clear();
    return joined;
  }

  /** @returns the lines without dropped events */
  private readLines(lines: Buffer): Buffer {
    this.findContent();
    this.keepTail(lines);
    if (hasUsageOrError(lines)) return this.readUsageLines(lines);
    this.deferSearch(lines);
    return this.dropsEmptyLine ? this.dropEvents(lines, []) : lines;
  }

  private readUsageLines(lines: Buffer): Buffer {
    const dropped: [start: number, end: number][] = [];
    const at = performance.now();
    const forEach = this.isSearching ? forEachLine : forEachUsageOrErrorLine;
    forEach(lines, (start, end) => {
      const reading = this.readLine(lines, start, end, at);
      if (reading?.isUsageOnly) dropped.push([start, end]);
    });
    return this.dropsUsage ? this.dropEvents(lines, dropped) : lines;
  }

  /** Drops events, each with the empty line after it. */
  private dropEvents(lines: Buffer, events: readonly [start: number, end: number][]): Buffer {
    const kept: Buffer[] = [];
    let from = this.dropsEmptyLine ? skipEmptyLine(lines, 0) : 0;
    this.dropsEmptyLine = false;
    for (const [start, end] of events) {
      kept.push(lines.subarray(from, start));
      from = skipEmptyLine(lines, end);
      this.dropsEmptyLine = end === lines.length;
    }
    if (from === 0) return lines;
    return Buffer.concat([...kept, lines.subarray(from)]);
  }

  private keepTail(lines: Buffer): void {
    const { length } = lines;
    if (length > EMPTY_LINE_BYTES)
      this.tail = lines.toString('latin1', Math.max(0, length - TAIL_BYTES), length);
  }

  private get isSearching(): boolean {
    return this.contentTime === undefined && this.searchedEvents < SEARCHED_LIMIT;
  }

  /** Defers the search for content to the next chunk, so that the client does not wait for it. */
  private deferSearch(lines: Buffer): void {
    if (this.isSearching) this.unsearched = { lines, at: performance.now() };
  }

  private findContent(): void {
    const { unsearched } = this;
    if (!unsearched) return;
    this.unsearched = undefined;
    const { lines, at } = unsearched;
    forEachLine(lines, (start, end) => this.isSearching && this.readLine(lines, start, end, at));
  }

  private parseLine(lines: Buffer, start: number, end: number): ParsedEvent | undefined {
    const isTooLong = lineLength(lines, start, end) > LINE_LIMIT_BYTES;
    if (isTooLong || this.invalidEvents >= INVALID_LIMIT) return undefined;
    const object = findJsonObject(lines, start, end);
    if (object < 0) return undefined;
    this.searchedEvents++;
    const reading = parseEvent(lines.toString('utf8', object, end));
    if (!reading) this.invalidEvents++;
    return reading;
  }

  private readLine(lines: Buffer, start: number, end: number, at: number): ParsedEvent | undefined {
    const reading = this.parseLine(lines, start, end);
    if (!reading) return undefined;
    if (reading.hasContent) this.contentTime ??= at;
    if (reading.usage) {
      this.usage = mergeUsage(this.usage, reading.usage);
      this.isFinal ||= reading.isFinal;
      this.isCumulative = reading.isCumulative;
    }
    this.hasError ||= reading.isError;
    this.hasEnded ||= reading.isLast;
    return reading;
  }
}
