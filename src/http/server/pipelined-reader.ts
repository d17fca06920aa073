import type { Socket } from 'node:net';
import { GrowingBuffer } from '../../common/body/growing-buffer.js';
import type { HttpRequest, HttpResponse } from '../http-exchange.js';
import { lingerAtEnd } from '../linger.js';
import type { Connections } from './connections.js';

const LF = 0x0a;
const CR = 0x0d;

/** Nothing shorter contains the end of a request's headers, or of a chunked body: a flood of line feeds has fewer parts. */
const MIN_HEADERS_BYTES = 16;
const MIN_CHUNKS_BYTES = 5;

/** Bytes that are read while requests wait. A client that leaves is noticed only while its connection is read. */
const WAITING_LIMIT_BYTES = 65_536;

/** Node destroys the connection at once, with the responses that are not delivered yet. */
const DESTROYS_CONNECTION = /^[\r\n]*(?:CONNECT|PRI) /;
const LONGEST_MATCH_BYTES = 32;
const EMPTY = Buffer.alloc(0);

const readers = new WeakMap<Socket, PipelinedReader>();

/**
 * Passes the bytes of a connection to Node's parser, request by request. Left alone, the parser starts all requests of
 * a pipeline at once, and takes bytes after the last request for an error. It drops bytes after an unsupported `Upgrade`.
 *
 * A request ends with the empty line after its headers, with a body of known length, or with an empty line after its
 * chunks. Each part that is passed on therefore ends at the next empty line at the latest.
 */
export class PipelinedReader {
  /** Bytes that were read and not passed on. */
  private rest?: Buffer = undefined;
  /** Storage of these bytes, if several reads wait. */
  private waiting?: GrowingBuffer = undefined;
  /** Request whose body is passed on. */
  private request?: HttpRequest = undefined;
  /** Bytes of its body that are yet to be passed on, if its length is known. */
  private bodyBytes = 0;
  /** Whether the next part begins after an empty line or a body. */
  private isAtStart = true;
  /** The last two bytes that were passed on. */
  private tail: readonly [number, number] = [0, 0];
  private isWaiting = false;

  /**
   * @param parse Node's own listener for the bytes
   * @param reject is called for a request that must not reach Node
   */
  constructor(
    private readonly socket: Socket,
    private readonly connections: Connections,
    private readonly parse: (bytes: Buffer) => void,
    private readonly reject: () => void,
  ) {
    socket.on('data', this.onData);
    socket.on('resume', this.passOn); // behind Node's listener, which may pause the socket again
    readers.set(socket, this);
    connections.onResponseClosed(socket, () => this.onResponseClosed());
  }

  /**
   * Takes a connection over from HTTP, for another protocol. The open response is not written by Node any more, and is
   * closed with the connection.
   * @param response response to the last request
   * @param onEnding called when the server stops: the connection has to end
   * @returns bytes that followed the request; undefined if earlier responses are open, or the connection was closed
   */
  static takeOver({ socket, headersSent }: HttpResponse, onEnding: () => void): Upgraded | undefined {
    const reader = socket && readers.get(socket);
    if (!reader || headersSent || socket.destroyed) return undefined;
    const head = reader.release();
    reader.connections.onUpgrade(socket, onEnding);
    return { socket, head };
  }

  private release(): Buffer {
    const { socket, rest = EMPTY } = this;
    socket.off('data', this.onData);
    socket.off('resume', this.passOn);
    readers.delete(socket);
    this.rest = undefined;
    this.waiting = undefined;
    if (socket.isPaused()) socket.resume();
    return rest;
  }

  private readonly onData = (bytes: Buffer): void => {
    if (!this.rest) {
      this.rest = bytes;
      this.passOn();
    } else if (this.rest.length < WAITING_LIMIT_BYTES) this.append(this.rest, bytes);
    else {
      this.socket.pause(); // a reader of a body has resumed the socket
      this.socket.unshift(bytes);
    }
  };

  private append(rest: Buffer, bytes: Buffer): void {
    if (!this.waiting) {
      this.waiting = new GrowingBuffer(NaN, 2 * rest.length);
      this.waiting.append(rest);
    }
    this.waiting.append(bytes);
    this.rest = this.waiting.bytes;
    this.passOn();
  }

  private onResponseClosed(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    if (this.socket.isPaused()) this.socket.resume();
    else this.passOn();
  }

  private readonly passOn = (): void => {
    const { socket } = this;
    while (this.rest && !socket.isPaused() && !socket.destroyed) {
      const treatment = this.connections.treatmentOf(socket);
      if (treatment === 'read') this.passPart(this.rest);
      else if (treatment === 'drop') this.drop();
      else return this.wait(this.rest);
    }
  };

  private drop(): void {
    this.rest = undefined;
    this.waiting = undefined;
    lingerAtEnd(this.socket);
  }

  private wait(rest: Buffer): void {
    this.isWaiting = true;
    if (rest.length >= WAITING_LIMIT_BYTES) this.socket.pause();
  }

  private passPart(bytes: Buffer): void {
    if (this.isAtStart && !this.request && destroysConnection(bytes)) return this.reject();
    const end = this.endOfPart(bytes);
    const part = bytes.subarray(0, end);
    this.rest = end < bytes.length ? bytes.subarray(end) : undefined;
    this.waiting = undefined;
    this.tail = [this.byteAt(bytes, end - 2), this.byteAt(bytes, end - 1)];
    if (this.bodyBytes > 0) this.bodyBytes -= end;
    this.parse(part);
    this.lookAtRequest();
  }

  private lookAtRequest(): void {
    const request = this.connections.incomplete(this.socket);
    if (request === this.request) return;
    this.request = request;
    this.bodyBytes = Number(request?.headers['content-length'] ?? 0);
  }

  private endOfPart(bytes: Buffer): number {
    if (this.bodyBytes > 0) {
      this.isAtStart = this.bodyBytes <= bytes.length;
      return Math.min(this.bodyBytes, bytes.length);
    }
    const minBytes = this.request ? MIN_CHUNKS_BYTES : MIN_HEADERS_BYTES;
    let at = bytes.indexOf(LF, this.isAtStart ? minBytes - 1 : 0);
    while (at >= 0 && !this.endsEmptyLine(bytes, at)) at = bytes.indexOf(LF, at + 1);
    this.isAtStart = at >= 0;
    return at < 0 ? bytes.length : at + 1;
  }

  /** @param at index of a line feed */
  private endsEmptyLine(bytes: Buffer, at: number): boolean {
    const before = this.byteAt(bytes, at - 1);
    return before === LF || (before === CR && this.byteAt(bytes, at - 2) === LF);
  }

  /** @param index -1 and -2 for the bytes that were passed on last */
  private byteAt(bytes: Buffer, index: number): number {
    return index < 0 ? this.tail[index === -1 ? 1 : 0] : bytes[index]!;
  }
}

/** Connection that was taken over from HTTP. */
export interface Upgraded {
  readonly socket: Socket;
  /** Bytes that followed the request. */
  readonly head: Buffer;
}

function destroysConnection(bytes: Buffer): boolean {
  return DESTROYS_CONNECTION.test(bytes.toString('latin1', 0, LONGEST_MATCH_BYTES));
}
