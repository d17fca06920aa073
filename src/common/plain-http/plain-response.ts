import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { writeSoon } from '../end-of-turn.js';
import type { Writer } from '../end-of-turn.js';
import type { HttpResponse } from '../http-exchange.js';
import { STRING_LIMIT_BYTES } from '../string-limit.js';
import { httpDate } from './http-date.js';
import { Listeners } from './listeners.js';
import type { PlainRequest } from './plain-request.js';

const LAST_CHUNK = '0\r\n\r\n';

/** Who is told of a response's end. */
export interface ResponseEvents {
  /** All of it is handed to the kernel. */
  finished(response: PlainResponse): void;
}

/**
 * The response to a {@link PlainRequest}: head and body, with its length or in chunks. What is written in one turn
 * of the event loop goes out as one string, but for the first of it after a silence.
 */
export class PlainResponse extends Listeners implements HttpResponse, Writer {
  shouldKeepAlive = true;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  /** Whether the client was told that the connection ends. */
  isLast = false;
  /** Headers that were set before the head. */
  private lines = '';
  private hasBody = true;
  private isChunked = false;
  /** That is not written yet. */
  private pending = '';
  private isScheduled = false;
  /** Whether a writer waits until the client has caught up. */
  private needsDrain = false;
  private sent?: () => void = undefined;

  /** @param keepAliveTimeoutMs for which the connection is kept afterwards */
  constructor(
    readonly req: PlainRequest,
    private readonly keepAliveTimeoutMs: number,
    private readonly events: ResponseEvents,
  ) {
    super();
  }

  get socket(): Socket | null {
    return this.writableFinished ? null : this.req.socket;
  }

  setHeader(name: string, value: string | number): this {
    this.lines += `${name}: ${value}\r\n`;
    return this;
  }

  /** @param headers in lower case, without any that say how the body is framed but `content-length` */
  writeHead(status: number, headers: readonly string[] = []): this {
    let { lines } = this;
    let hasLength = false;
    let hasDate = false;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      if (name === 'content-length') hasLength = true;
      else if (name === 'date') hasDate = true;
      lines += `${name}: ${headers[i + 1]}\r\n`;
    }
    if (!hasDate) lines += `Date: ${httpDate()}\r\n`;
    this.headersSent = true;
    this.isLast = !this.shouldKeepAlive;
    this.hasBody = this.req.method !== 'HEAD' && status !== 204 && status !== 304;
    this.isChunked = this.hasBody && !hasLength;
    this.pending = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n${lines}${this.ownLines()}\r\n`;
    return this;
  }

  flushHeaders(): void {
    this.writeLater('');
  }

  write(chunk: Buffer | string, written?: () => void): boolean {
    this.add(chunk);
    if (written) this.writeNow(written);
    const { socket } = this.req;
    // Whoever was told to wait is told when that is over, whatever is written meanwhile.
    this.needsDrain ||= socket.writableLength + this.pending.length >= socket.writableHighWaterMark;
    return !this.needsDrain;
  }

  end(last?: Buffer | string, encoding?: 'latin1', sent?: () => void): this {
    this.sent = sent;
    this.writableEnded = true;
    if (last !== undefined) this.add(last, encoding);
    if (this.isChunked) this.pending += LAST_CHUNK;
    this.writeNow();
    const { socket } = this.req;
    if (socket.writableLength === 0) process.nextTick(finish, this);
    else if (socket.writable) socket.write('', 'latin1', () => this.finish());
    return this;
  }

  destroy(): this {
    this.destroyed = true;
    this.req.socket.destroy();
    return this;
  }

  /** @internal */
  writeNow(written?: () => void): void {
    const { pending } = this;
    const { socket } = this.req;
    this.isScheduled = false;
    if ((pending === '' && !written) || !socket.writable) return;
    this.pending = '';
    this.tellWhenDrained(socket.write(pending, 'latin1', written));
  }

  /** @param hasRoom whether the connection has room for more: otherwise it tells by itself when it has */
  private tellWhenDrained(hasRoom: boolean): void {
    if (hasRoom && this.needsDrain) process.nextTick(drained, this);
  }

  /** @internal */
  drained(): void {
    if (!this.needsDrain) return;
    this.needsDrain = false;
    this.emit('drain');
  }

  /** @internal */
  finish(): void {
    if (this.writableFinished || this.req.socket.destroyed) return;
    this.writableFinished = true;
    this.sent?.();
    this.closed();
    this.events.finished(this);
  }

  /** It is finished, or its connection is closed. @internal */
  closed(): void {
    this.destroyed = true;
    this.emit('close');
  }

  /** What they say is of the connection. */
  private ownLines(): string {
    const { isLast, isChunked, keepAliveTimeoutMs } = this;
    const connection = isLast
      ? 'Connection: close\r\n'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n`;
    return isChunked ? `${connection}Transfer-Encoding: chunked\r\n` : connection;
  }

  /** To the body. */
  private add(chunk: Buffer | string, encoding?: 'latin1'): void {
    if (!this.hasBody || chunk.length === 0) return;
    if (typeof chunk === 'string') {
      this.addText(encoding === 'latin1' ? chunk : Buffer.from(chunk).toString('latin1'));
    } else if (chunk.length <= STRING_LIMIT_BYTES) this.addText(chunk.toString('latin1'));
    else this.addBytes(chunk);
  }

  private addText(text: string): void {
    this.writeLater(this.isChunked ? `${text.length.toString(16)}\r\n${text}\r\n` : text);
  }

  private addBytes(chunk: Buffer): void {
    const { isChunked } = this;
    const { socket } = this.req;
    socket.cork();
    if (isChunked) this.pending += `${chunk.length.toString(16)}\r\n`;
    this.writeNow();
    if (socket.writable) this.tellWhenDrained(socket.write(chunk));
    if (isChunked) this.writeLater('\r\n');
    socket.uncork();
  }

  private writeLater(text: string): void {
    this.pending += text;
    if (this.isScheduled || this.writableEnded || this.pending === '') return;
    this.isScheduled = true;
    writeSoon(this);
  }
}

function finish(response: PlainResponse): void {
  response.finish();
}

function drained(response: PlainResponse): void {
  response.drained();
}
