import type { Socket } from 'node:net';
import type { HttpRequest } from '../http-exchange.js';
import { Listeners } from './listeners.js';
import type { PlainHead } from './plain-head.js';

/** A request that is read by a {@link PlainConnection}. */
export class PlainRequest extends Listeners implements HttpRequest {
  complete = false;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  private bytesLeft: number;
  private isFlowing = false;
  private isPaused = false;
  /** That has come before anybody wanted it. */
  private held: Buffer[] = [];

  constructor(
    head: PlainHead,
    readonly socket: Socket,
  ) {
    super();
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.rawHeaders = head.rawHeaders;
    this.bytesLeft = head.bodyLength;
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
   * What has come of the body.
   * @returns what is behind it
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
