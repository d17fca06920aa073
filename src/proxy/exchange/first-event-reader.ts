import { BufferList } from '../wire/buffer-list.js';
import { isEventStream } from '../wire/response-headers.js';
import type { ResponseHeaders } from '../wire/response-headers.js';

/** Maximum number of bytes that are searched for the first event. */
const LIMIT_BYTES = 65_536;
const TOO_LONG: StreamEvent = { name: '', data: '' };
const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const BYTE_ORDER_MARK = 0xfeff;

/** Finds the first event of a stream and skips comments. Reads every byte once, however the stream is split. */
export class FirstEventReader {
  private length = 0;
  private name = '';
  private eventData?: string = undefined;
  /** Start of a line whose end has not arrived. */
  private readonly partialLine = new BufferList();
  private followsCr = false;
  private isFirstLine = true;

  /** @returns undefined while the event is incomplete; an empty event if the event exceeds the limit */
  read(chunk: Buffer): StreamEvent | undefined {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte !== LF && byte !== CR) {
        this.followsCr = false;
        continue;
      }
      const followsCr = byte === LF && this.followsCr;
      this.followsCr = byte === CR;
      if (!followsCr && this.readLine(chunk, start, at)) return { name: this.name, data: this.eventData! };
      start = at + 1;
    }
    if (start < chunk.length) this.partialLine.append(Buffer.from(chunk.subarray(start)));
    this.length += chunk.length;
    return this.length > LIMIT_BYTES ? TOO_LONG : undefined;
  }

  /** @returns whether the line completes an event */
  private readLine(chunk: Buffer, start: number, end: number): boolean {
    if (this.partialLine.length === 0 && chunk[start] === COLON) return false; // a comment
    const line =
      start === end && this.partialLine.length === 0 ? '' : this.completeLine(chunk.subarray(start, end));
    if (line === '') {
      if (this.eventData !== undefined) return true;
      this.name = '';
    } else if (line.startsWith('data:')) {
      const value = parseValue(line);
      this.eventData = this.eventData === undefined ? value : `${this.eventData}\n${value}`;
    } else if (line.startsWith('event:')) this.name = parseValue(line);
    return false;
  }

  private completeLine(rest: Buffer): string {
    this.partialLine.append(rest);
    const text = this.partialLine.toBuffer().toString();
    this.partialLine.clear();
    const hasByteOrderMark = this.isFirstLine && text.charCodeAt(0) === BYTE_ORDER_MARK;
    this.isFirstLine = false;
    return hasByteOrderMark ? text.slice(1) : text;
  }
}

/** Event of an event stream (HTML Living Standard, 9.2). */
export interface StreamEvent {
  /** Empty when the event has no name. */
  readonly name: string;
  readonly data: string;
}

function parseValue(line: string): string {
  const start = line.indexOf(':') + 1;
  return line.slice(line[start] === ' ' ? start + 1 : start);
}

/** Whether a successful event stream may report in its first event that the provider is overloaded. */
export function mayStartWithError({ status, contentType, isEncoded, framing }: ResponseHeaders): boolean {
  return isEventStream(contentType) && status < 300 && !isEncoded && framing !== 0;
}
