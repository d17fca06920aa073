import type { OnReadOpts, Socket } from 'node:net';
import { writeSoon } from '../../http/end-of-turn.js';
import type { Writer } from '../../http/end-of-turn.js';
import { STRING_LIMIT_BYTES } from '../../http/string-limit.js';
import type { ResponseHeaders } from './response-headers.js';
import { ResponseReader } from './response-reader.js';
import type { ResponseSink } from './response-reader.js';

const READ_BYTES = 65_536;
const connections = new WeakMap<Socket, UpstreamConnection>();

/**
 * Reads all sockets into one buffer, from which kept bytes are copied. Without this option, Node allocates 64 KiB for
 * every read, however few bytes arrive.
 */
export const SOCKET_READ_OPTIONS: OnReadOpts = {
  buffer: Buffer.allocUnsafeSlow(READ_BYTES),
  callback(this: Socket, bytesRead: number, buffer: Uint8Array): boolean {
    const connection = connections.get(this);
    if (connection) connection.onSocketRead(buffer.subarray(0, bytesRead) as Buffer);
    else this.destroy(); // bytes without a request
    return true;
  },
};

/** Connection to an upstream. Carries one request at a time. */
export class UpstreamConnection implements Writer {
  private readonly reader = new ResponseReader({
    onResponseHeaders: (headers) => this.onResponseHeaders(headers),
    onData: (chunk) => this.listener?.onData(chunk),
    onEnd: () => this.onEnd(),
  });
  private listener?: ResponseListener;
  /** Request that is not written yet. */
  private request?: WireRequest;
  private isPersistent = true;
  /** Start of the idle time, by `performance.now()`; 0 before the first response. */
  idleSince = 0;

  /**
   * @param socket must be created with {@link SOCKET_READ_OPTIONS}
   * @param onIdle called when the connection can take the next request, but not while a listener runs
   */
  constructor(
    private readonly socket: Socket,
    private readonly onIdle: (connection: UpstreamConnection) => void,
  ) {
    socket.setNoDelay(true);
    connections.set(socket, this);
    socket.resume(); // the stream emits no data because of `onread`, but the end
    socket.on('end', () => this.onClose(false));
    socket.on('error', () => this.onClose(true));
    socket.on('close', () => this.onClose(false));
  }

  get isUsable(): boolean {
    return !this.socket.destroyed;
  }

  /** Sends a request at the end of the current turn of the event loop, or earlier. */
  send(request: WireRequest, listener: ResponseListener): void {
    this.listener = listener;
    this.request = request;
    this.reader.expectResponse(request.method);
    writeSoon(this);
  }

  /** @internal */
  writeNow(): void {
    const { request } = this;
    this.request = undefined;
    if (!request || this.socket.destroyed) return;
    const { headers, body } = request;
    if (body.length === 0) this.socket.write(headers, 'latin1');
    else if (body.length <= STRING_LIMIT_BYTES)
      this.socket.write(headers + body.toString('latin1'), 'latin1');
    else {
      this.socket.cork();
      this.socket.write(headers, 'latin1');
      this.socket.write(body);
      this.socket.uncork();
    }
  }

  /** Stops reading from the network until {@link resume}. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Closes the connection without notifying the listener. */
  destroy(): void {
    this.listener = undefined;
    this.isPersistent = false;
    this.socket.destroy();
  }

  /** @internal */
  onSocketRead(bytes: Buffer): void {
    try {
      this.reader.read(bytes);
    } catch {
      this.fail('malformed', false);
      return;
    }
    if (this.listener) this.listener.onReadEnd();
    else this.release(); // last, because bytes after the response are malformed
  }

  private onResponseHeaders(headers: ResponseHeaders): void {
    this.isPersistent &&= headers.isPersistent;
    this.listener?.onResponseHeaders(headers);
  }

  private onEnd(): void {
    const { listener } = this;
    this.listener = undefined;
    listener?.onEnd();
  }

  private release(): void {
    const hasReadAll = this.socket.writableLength === 0; // an upstream may reject a request before reading all of it
    if (!this.isPersistent || !hasReadAll) return this.destroy();
    if (this.socket.isPaused()) this.socket.resume(); // paused for a slow client
    this.onIdle(this);
  }

  /** @param isBroken whether the connection failed, so that even a body without a known length is incomplete */
  private onClose(isBroken: boolean): void {
    this.isPersistent = false;
    if (this.listener && (isBroken || !this.reader.endInput())) {
      this.fail('reset', this.idleSince > 0 && !this.reader.hasPartialResponse);
    }
    this.socket.destroy();
  }

  private fail(kind: FailureKind, isStale: boolean): void {
    const { listener } = this;
    this.destroy();
    listener?.onError(kind, isStale);
  }
}

/** Request in the form in which it is sent. */
export interface WireRequest {
  readonly method: string;
  /** Request line and headers with the empty line. */
  readonly headers: string;
  readonly body: Buffer;
}

/** Reason for which there is no complete response, as in usage records. */
export type FailureKind = 'dns' | 'connect' | 'refused' | 'tls' | 'reset' | 'malformed' | 'timeout';

/** Receives the response to one request. Not called again after `onEnd` or `onError`. */
export interface ResponseListener extends ResponseSink {
  /** All bytes of one socket read were delivered; the response continues. */
  onReadEnd(): void;
  /** @param isStale whether a reused connection ended before the first byte of this response */
  onError(kind: FailureKind, isStale: boolean): void;
}
