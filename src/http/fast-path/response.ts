import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { writeSoon } from '../end-of-turn.js';
import type { Writer } from '../end-of-turn.js';
import type { HttpResponse } from '../http-exchange.js';
import { STRING_LIMIT_BYTES } from '../string-limit.js';
import { Emitter } from './emitter.js';
import type { FastPathRequest } from './request.js';

const LAST_CHUNK = '0\r\n\r\n';

/**
 * Response to a {@link FastPathRequest}, with a `Content-Length` or in chunks. Writes of one turn of the event loop are
 * joined to one string; the first write after a quiet time is sent at once.
 */
export class FastPathResponse extends Emitter implements HttpResponse, Writer {
  shouldKeepAlive = true;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  /** Whether the headers announce the end of the connection. */
  isLast = false;
  /** Header lines that {@link setHeader} added. */
  private lines = '';
  private hasBody = true;
  private isChunked = false;
  /** Bytes that are not written yet, as Latin-1. */
  private pending = '';
  private isScheduled = false;
  /** Whether a writer waits for `drain`. */
  private needsDrain = false;

  /** @param keepAliveTimeoutMs time that the connection is kept after the response */
  constructor(
    readonly req: FastPathRequest,
    private readonly keepAliveTimeoutMs: number,
    private readonly listener: ResponseListener,
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

  /** @param headers alternating names in lower case and values; `content-length` is the only framing header */
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
    this.pending = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n${lines}${this.connectionLines()}\r\n`;
    return this;
  }

  flushHeaders(): void {
    this.writeLater('');
  }

  write(chunk: Buffer | string, written?: () => void): boolean {
    this.add(chunk);
    if (written) this.writeNow(written);
    const { socket } = this.req;
    // Stays set until `drain`, so that every writer that was told to wait is also told to continue.
    this.needsDrain ||= socket.writableLength + this.pending.length >= socket.writableHighWaterMark;
    return !this.needsDrain;
  }

  end(last?: Buffer | string, encoding?: 'latin1'): this {
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
    this.drainSoon(socket.write(pending, 'latin1', written));
  }

  /** @param hasRoom whether the socket's buffer has room; otherwise the socket emits `drain` itself */
  private drainSoon(hasRoom: boolean): void {
    if (hasRoom && this.needsDrain) process.nextTick(drain, this);
  }

  /** @internal */
  onDrain(): void {
    if (!this.needsDrain) return;
    this.needsDrain = false;
    this.emit('drain');
  }

  /** @internal */
  finish(): void {
    if (this.writableFinished || this.req.socket.destroyed) return;
    this.writableFinished = true;
    this.onClose();
    this.listener.onResponseFinish();
  }

  /** The response is finished, or its connection is closed. @internal */
  onClose(): void {
    this.destroyed = true;
    this.emit('close');
  }

  /** Headers of the connection and of the framing. */
  private connectionLines(): string {
    const { isLast, isChunked, keepAliveTimeoutMs } = this;
    const connection = isLast
      ? 'Connection: close\r\n'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n`;
    return isChunked ? `${connection}Transfer-Encoding: chunked\r\n` : connection;
  }

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
    if (socket.writable) this.drainSoon(socket.write(chunk));
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

function finish(response: FastPathResponse): void {
  response.finish();
}

function drain(response: FastPathResponse): void {
  response.onDrain();
}

/** Receives the end of a response. */
export interface ResponseListener {
  /** All bytes of the response are handed to the kernel. */
  onResponseFinish(): void;
}

let date = { second: NaN, text: '' };

/** Value of `Date` (RFC 9110, section 5.6.7), formatted once per second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (date.second !== second) date = { second, text: new Date(second * 1_000).toUTCString() };
  return date.text;
}
