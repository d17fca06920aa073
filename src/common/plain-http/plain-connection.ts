import type { Socket } from 'node:net';
import { stayAwake } from '../busy-poll.js';
import { HeadReader } from './head-reader.js';
import { PlainRequest } from './plain-request.js';
import { PlainResponse } from './plain-response.js';
import type { ResponseEvents } from './plain-response.js';

/** What connections with plain requests have in common. */
export interface PlainServing {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly headerLimitBytes: number;
  /** Whether a request for this path is one to be read here. */
  accepts(url: string): boolean;
  serve(request: PlainRequest, response: PlainResponse): void;
  /** Takes a connection over, on which a request begins. */
  handOver(socket: Socket): void;
  /** The client is too slow, or has left in the middle. */
  failed(socket: Socket, error: NodeJS.ErrnoException): void;
}

/** Of what has come while an answer is on its way. */
const WAITING_LIMIT_BYTES = 65_536;

/**
 * Reads a connection as long as its requests are plain ones. The first that is not goes, with all that follows, to
 * Node's own server, whose parser, being ready for anything, is several times as dear.
 */
export class PlainConnection implements ResponseEvents {
  // `= undefined`, here and elsewhere on the way of a request: objects that have all their members from the beginning
  // are of one hidden class, which V8's code is fast with.
  private request?: PlainRequest = undefined;
  private response?: PlainResponse = undefined;
  /** What has come of the request after the current one. */
  private waiting?: Buffer = undefined;
  /** When it was opened, its current request began, or its last answer ended; as `performance.now()` has it. */
  private since = performance.now();
  private wasUsed = false;
  private readonly heads: HeadReader;
  private readonly listeners: readonly [event: string, listener: (bytes: Buffer) => void][];

  /** @param left nothing more is read here: there is no need to look at it any more */
  constructor(
    private readonly socket: Socket,
    private readonly serving: PlainServing,
    private readonly left: () => void,
  ) {
    this.heads = new HeadReader(serving.headerLimitBytes);
    this.listeners = [
      ['data', (bytes) => this.onRead(bytes)],
      ['end', () => this.onEnd()],
      ['drain', () => this.response?.drained()],
      ['error', nothing], // it is closed
      ['close', () => this.onClose()],
    ];
    for (const [event, listener] of this.listeners) socket.on(event, listener);
  }

  /** Ends it when its time is over. */
  look(now: number): void {
    const { serving } = this;
    const elapsedMs = now - this.since;
    if (this.request) {
      if (!this.request.complete && elapsedMs >= serving.bodyTimeoutMs) this.fail('ERR_HTTP_REQUEST_TIMEOUT');
    } else if (!this.wasUsed) {
      if (elapsedMs >= serving.headersTimeoutMs) this.fail('ERR_HTTP_REQUEST_TIMEOUT');
    } else if (elapsedMs >= serving.keepAliveTimeoutMs) this.socket.destroy();
  }

  /** @internal */
  finished(): void {
    if (this.request!.complete) this.becomeIdle();
    else this.request!.once('close', () => this.becomeIdle()).resume();
  }

  private onRead(bytes: Buffer): void {
    this.onData(bytes);
    stayAwake();
  }

  private onData(bytes: Buffer): void {
    if (!this.request) this.begin(bytes);
    else if (this.request.complete) this.wait(bytes);
    else this.goOn(bytes);
  }

  private begin(bytes: Buffer): void {
    const { serving, socket } = this;
    const head = this.heads.read(bytes);
    if (!head || bytes.length > head.headLength + head.bodyLength || !serving.accepts(head.url)) {
      this.handOver(bytes);
      return;
    }
    const request = new PlainRequest(head, socket);
    const response = new PlainResponse(request, serving.keepAliveTimeoutMs, this);
    this.request = request;
    this.response = response;
    this.since = performance.now();
    this.wasUsed = true;
    serving.serve(request, response);
    if (head.bodyLength === 0 || bytes.length > head.headLength) {
      request.push(bytes.subarray(head.headLength));
    }
  }

  private goOn(bytes: Buffer): void {
    const rest = this.request!.push(bytes);
    if (rest && rest.length > 0) this.onData(rest);
  }

  private wait(bytes: Buffer): void {
    this.waiting = this.waiting ? Buffer.concat([this.waiting, bytes]) : bytes;
    if (this.waiting.length > WAITING_LIMIT_BYTES) this.socket.pause();
  }

  private becomeIdle(): void {
    const { response, waiting, socket } = this;
    if (!response || socket.destroyed) return;
    this.request = undefined;
    this.response = undefined;
    this.since = performance.now();
    if (response.isLast) {
      socket.destroySoon();
      return;
    }
    if (!waiting) return;
    this.waiting = undefined;
    socket.resume();
    this.begin(waiting);
  }

  private handOver(bytes: Buffer): void {
    const { socket } = this;
    for (const [event, listener] of this.listeners) socket.off(event, listener);
    this.left();
    socket.unshift(bytes);
    this.serving.handOver(socket);
  }

  /** The client is told, where it can be. */
  private fail(code: 'ERR_HTTP_REQUEST_TIMEOUT' | 'HPE_INVALID_EOF_STATE'): void {
    const { socket } = this;
    for (const [event, listener] of this.listeners) {
      if (event === 'data' || event === 'end') socket.off(event, listener);
    }
    this.left();
    this.serving.failed(socket, Object.assign(new Error(code), { code }));
  }

  /** Who will not read the answer to the end has no need of it. */
  private onEnd(): void {
    if (this.request && !this.request.complete) this.fail('HPE_INVALID_EOF_STATE');
    else this.socket.end();
  }

  private onClose(): void {
    const { request, response } = this;
    this.left();
    if (response && !response.writableFinished) response.closed();
    if (request && !request.complete) request.emit('close');
  }
}

function nothing(): void {
  // what there is to do is done elsewhere
}
