import type { Socket } from 'node:net';
import type { HttpRequest } from '../http-exchange.js';
import { Emitter } from './emitter.js';
import type { RequestHeaders } from './request-headers.js';

/** Request on the fast path. Its connection passes the bytes of the body to {@link push}. */
export class FastPathRequest extends Emitter implements HttpRequest {
  complete = false;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  private bytesLeft: number;
  private isFlowing = false;
  private isPaused = false;
  /** Bytes of the body that arrived before the first reader. */
  private held: Buffer[] = [];

  constructor(
    headers: RequestHeaders,
    readonly socket: Socket,
  ) {
    super();
    this.method = headers.method;
    this.url = headers.url;
    this.headers = headers.headers;
    this.rawHeaders = headers.rawHeaders;
    this.bytesLeft = headers.bodyLength;
  }

  override on(event: string, listener: (chunk: Buffer) => void): this {
    super.on(event, listener);
    if (event === 'data') this.resume();
    return this;
  }

  pause(): this {
    this.isPaused = true;
    if (!this.complete) this.socket.pause();
    return this;
  }

  resume(): this {
    this.isPaused = false;
    if (this.isFlowing) this.socket.resume();
    else if (this.held.length === 0 && !this.complete) this.isFlowing = true;
    else process.nextTick(() => this.deliver());
    return this;
  }

  /**
   * Delivers bytes of the body.
   * @returns the bytes after the body; undefined if the body is not complete
   * @internal
   */
  push(bytes: Buffer): Buffer | undefined {
    const isAll = bytes.length >= this.bytesLeft;
    const chunk = bytes.length > this.bytesLeft ? bytes.subarray(0, this.bytesLeft) : bytes;
    this.bytesLeft -= chunk.length;
    this.complete = isAll;
    if (!this.isFlowing) {
      if (chunk.length > 0) this.held.push(chunk);
      if (!isAll) this.socket.pause();
      return isAll ? bytes.subarray(chunk.length) : undefined;
    }
    if (chunk.length > 0) this.emit('data', chunk);
    if (!isAll) return undefined;
    this.ended();
    return bytes.subarray(chunk.length);
  }

  private deliver(): void {
    if (this.isFlowing) return;
    this.isFlowing = true;
    const { held } = this;
    this.held = [];
    for (const chunk of held) this.emit('data', chunk);
    if (this.complete) this.ended();
    else if (!this.isPaused) this.socket.resume();
  }

  private ended(): void {
    this.emit('end');
    this.emit('close');
  }
}
