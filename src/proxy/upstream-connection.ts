import type { OnReadOpts, Socket } from 'node:net';
import { stayAwake } from '../common/busy-poll.js';
import { writeSoon } from '../common/end-of-turn.js';
import type { Writer } from '../common/end-of-turn.js';
import { STRING_LIMIT_BYTES } from '../common/string-limit.js';
import type { AnswerHead } from './answer-head.js';
import { AnswerReader } from './answer-reader.js';
import type { AnswerSink } from './answer-reader.js';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  /** Request line and headers with the empty line. */
  readonly head: string;
  readonly body: Buffer;
}

/** Why no complete answer came, in the words of the usage records. */
export type FailureKind = 'dns' | 'connect' | 'refused' | 'tls' | 'reset' | 'malformed' | 'timeout';

/** What is told of a request; after `end` or `failed` nothing more. */
export interface AnswerListener extends AnswerSink {
  /** What has come was told, and more is to come. */
  settled(): void;
  /** @param stale whether the connection was a used one that ended before a byte of this answer came */
  failed(kind: FailureKind, stale: boolean): void;
}

const READ_BYTES = 65_536;
const connections = new WeakMap<Socket, UpstreamConnection>();

/**
 * How the sockets of upstreams are read: into one buffer for all of them, out of which is copied what has to
 * be kept. Otherwise Node makes a buffer of 64 KiB for every read, however little comes.
 */
export const UPSTREAM_READING: OnReadOpts = {
  buffer: Buffer.allocUnsafeSlow(READ_BYTES),
  callback(this: Socket, bytesRead: number, buffer: Uint8Array): boolean {
    const connection = connections.get(this);
    if (connection) connection.onData(buffer.subarray(0, bytesRead) as Buffer);
    else this.destroy(); // speaks before it is spoken to
    return true;
  },
};

/** A connection to an upstream; carries one request at a time. */
export class UpstreamConnection implements Writer {
  private readonly reader = new AnswerReader({
    head: (head) => this.onHead(head),
    data: (chunk) => this.listener?.data(chunk),
    end: () => this.onEnd(),
  });
  private listener?: AnswerListener;
  /** That is not written yet. */
  private request?: WireRequest;
  private persistent = true;
  /** When it became idle last, as `performance.now()` has it; 0 before. */
  idleSince = 0;

  /**
   * @param socket that is read as {@link UPSTREAM_READING} says
   * @param released is called when the connection waits for its next request, never from within a listener
   */
  constructor(
    private readonly socket: Socket,
    private readonly released: (connection: UpstreamConnection) => void,
  ) {
    socket.setNoDelay(true);
    connections.set(socket, this);
    socket.resume(); // its stream has no data, but an end
    socket.on('end', () => this.onClose(false));
    socket.on('error', () => this.onClose(true));
    socket.on('close', () => this.onClose(false));
  }

  get usable(): boolean {
    return !this.socket.destroyed;
  }

  /** Sends a request, at the latest at the end of this turn of the event loop. */
  send(request: WireRequest, listener: AnswerListener): void {
    this.listener = listener;
    this.request = request;
    this.reader.begin(request.method);
    writeSoon(this);
  }

  /** @internal */
  writeNow(): void {
    const { request } = this;
    this.request = undefined;
    if (!request || this.socket.destroyed) return;
    const { head, body } = request;
    if (body.length === 0) this.socket.write(head, 'latin1');
    else if (body.length <= STRING_LIMIT_BYTES) this.socket.write(head + body.toString('latin1'), 'latin1');
    else {
      this.socket.cork();
      this.socket.write(head, 'latin1');
      this.socket.write(body);
      this.socket.uncork();
    }
  }

  /** No more of the answer is read from the network until {@link resume}. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Gives the request up; nothing more is told of it. */
  destroy(): void {
    this.listener = undefined;
    this.persistent = false;
    this.socket.destroy();
  }

  /** @internal */
  onData(bytes: Buffer): void {
    try {
      this.reader.feed(bytes);
    } catch {
      this.fail('malformed', false);
      return;
    }
    if (this.listener) this.listener.settled();
    else this.release(); // not before all bytes were read: there must be none behind the answer
    stayAwake();
  }

  private onHead(head: AnswerHead): void {
    this.persistent &&= head.persistent;
    this.listener?.head(head);
  }

  private onEnd(): void {
    const { listener } = this;
    this.listener = undefined;
    listener?.end();
  }

  private release(): void {
    const hasReadAll = this.socket.writableLength === 0; // some upstreams refuse before they have read all
    if (!this.persistent || !hasReadAll) return this.destroy();
    if (this.socket.isPaused()) this.socket.resume(); // by a client that was slow until the end
    this.released(this);
  }

  /** @param isBroken whether the other end did not end it: what has come is not all, however its end is known */
  private onClose(isBroken: boolean): void {
    this.persistent = false;
    if (this.listener && (isBroken || !this.reader.close())) {
      this.fail('reset', this.idleSince > 0 && !this.reader.inAnswer);
    }
    this.socket.destroy();
  }

  private fail(kind: FailureKind, stale: boolean): void {
    const { listener } = this;
    this.destroy();
    listener?.failed(kind, stale);
  }
}
