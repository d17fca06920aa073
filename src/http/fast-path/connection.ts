import type { Socket } from 'node:net';
import { GrowingBuffer } from '../../common/body/growing-buffer.js';
import { lingerAtEnd } from '../linger.js';
import { parseRequestHeaders } from './request-headers.js';
import { FastPathRequest } from './request.js';
import { FastPathResponse } from './response.js';
import type { ResponseListener } from './response.js';

/** Limits and callbacks that all connections on the fast path share. */
export interface FastPathOptions {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly headerLimitBytes: number;
  /** Whether requests for this path and query are handled on the fast path. */
  accepts(url: string): boolean;
  handle(request: FastPathRequest, response: FastPathResponse): void;
  /** Passes a connection to the Node path. Its next bytes begin a request. */
  handOver(socket: Socket): void;
  /** Is called if the client is too slow, or ends its side in the middle of a request. */
  onError(socket: Socket, error: NodeJS.ErrnoException): void;
}

/** Bytes of later requests that are read while a response is on its way. */
const WAITING_LIMIT_BYTES = 65_536;

/**
 * Reads a connection for as long as its requests are simple. The first other request is handed over to Node's HTTP
 * server, with all bytes after it.
 */
export class FastPathConnection implements ResponseListener {
  // `= undefined` gives all objects of a class the same members from the beginning, and so one hidden class. V8 optimises
  // the access to their members.
  private request?: FastPathRequest = undefined;
  private response?: FastPathResponse = undefined;
  /** Bytes after the current request. */
  private waiting?: GrowingBuffer = undefined;
  /** Whether the last response announced the end of the connection. */
  private isOver = false;
  /** Time at which the connection was opened, the request began, or the last response ended (`performance.now()`). */
  private since = performance.now();
  private wasUsed = false;
  private readonly listeners: readonly [event: string, listener: (bytes: Buffer) => void][];

  /** @param onLeave is called when the connection is closed or handed over */
  constructor(
    private readonly socket: Socket,
    private readonly options: FastPathOptions,
    private readonly onLeave: () => void,
  ) {
    this.listeners = [
      ['data', (bytes) => this.onData(bytes)],
      ['end', () => this.onEnd()],
      ['drain', () => this.response?.onDrain()],
      ['error', ignoreError],
      ['close', () => this.onClose()],
    ];
    for (const [event, listener] of this.listeners) socket.on(event, listener);
  }

  /** Ends the connection if its current timeout has passed. */
  checkTimeout(now: number): void {
    const { options } = this;
    const elapsedMs = now - this.since;
    if (this.request) {
      if (!this.request.complete && elapsedMs >= options.bodyTimeoutMs) this.fail('ERR_HTTP_REQUEST_TIMEOUT');
    } else if (!this.wasUsed) {
      if (elapsedMs >= options.headersTimeoutMs) this.fail('ERR_HTTP_REQUEST_TIMEOUT');
    } else if (elapsedMs >= options.keepAliveTimeoutMs) this.socket.destroy();
  }

  /** @internal */
  onResponseFinish(): void {
    if (this.request!.complete) this.becomeIdle();
    else this.request!.once('close', () => this.becomeIdle()).resume();
  }

  private onData(bytes: Buffer): void {
    if (this.isOver) return;
    if (!this.request) this.begin(bytes);
    else if (this.request.complete) this.wait(bytes);
    else this.continueBody(this.request, bytes);
  }

  private begin(bytes: Buffer): void {
    const { options, socket } = this;
    const headers = parseRequestHeaders(bytes, options.headerLimitBytes);
    const hasMore = headers && bytes.length > headers.headersLength + headers.bodyLength;
    if (!headers || hasMore || !options.accepts(headers.url)) {
      this.handOver(bytes);
      return;
    }
    const request = new FastPathRequest(headers, socket);
    const response = new FastPathResponse(request, options.keepAliveTimeoutMs, this);
    this.request = request;
    this.response = response;
    this.since = performance.now();
    this.wasUsed = true;
    options.handle(request, response);
    if (headers.bodyLength === 0 || bytes.length > headers.headersLength) {
      request.push(bytes.subarray(headers.headersLength));
    }
  }

  private continueBody(request: FastPathRequest, bytes: Buffer): void {
    const rest = request.push(bytes);
    if (rest && rest.length > 0) this.onData(rest);
  }

  private wait(bytes: Buffer): void {
    this.waiting ??= new GrowingBuffer(NaN, bytes.length);
    this.waiting.append(bytes);
    if (this.waiting.length > WAITING_LIMIT_BYTES) this.socket.pause();
  }

  private becomeIdle(): void {
    const { response, waiting, socket } = this;
    if (!response || socket.destroyed) return;
    this.request = undefined;
    this.response = undefined;
    this.since = performance.now();
    this.waiting = undefined;
    if (waiting) socket.resume();
    if (response.isLast) {
      this.isOver = true;
      if (waiting) lingerAtEnd(socket);
      socket.destroySoon();
    } else if (waiting) this.begin(waiting.bytes);
  }

  private handOver(bytes: Buffer): void {
    const { socket } = this;
    for (const [event, listener] of this.listeners) socket.off(event, listener);
    this.onLeave();
    socket.unshift(bytes);
    this.options.handOver(socket);
  }

  /** Stops reading. The server sends an error response if the client can still take one. */
  private fail(code: 'ERR_HTTP_REQUEST_TIMEOUT' | 'HPE_INVALID_EOF_STATE'): void {
    const { socket } = this;
    for (const [event, listener] of this.listeners) {
      if (event === 'data' || event === 'end') socket.off(event, listener);
    }
    this.onLeave();
    this.options.onError(socket, Object.assign(new Error(code), { code }));
  }

  /** The client has ended its side: it sends no further request. */
  private onEnd(): void {
    if (this.request && !this.request.complete) this.fail('HPE_INVALID_EOF_STATE');
    else this.socket.end();
  }

  private onClose(): void {
    const { request, response } = this;
    this.onLeave();
    if (response && !response.writableFinished) response.onClose();
    if (request && !request.complete) request.emit('close');
  }
}

function ignoreError(): void {
  // Node emits `close` after every `error`.
}
