import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface TimedResponse {
  readonly status: number;
  /** Time from sending the request to the first byte of the body. */
  readonly firstByteMs: number;
  /** Time from sending the request to the last byte. */
  readonly doneMs: number;
}

interface Exchange {
  readonly sentAt: number;
  readonly resolve: (response: TimedResponse) => void;
  readonly reject: (error: Error) => void;
}

const STALL_TIMEOUT_MS = 30_000;
const HEADERS_END = '\r\n\r\n';
const CRLF = '\r\n';
/** The last chunk, after the end of the headers or of another chunk. */
const BODY_END = `${CRLF}0${CRLF}${CRLF}`;

/**
 * A keep-alive connection for one request at a time. The parser only finds the status and the end of a response: by
 * Content-Length, by the last chunk, or without a body. Anything more would take CPU time from the mocks on the same core.
 */
export class Connection {
  private exchange?: Exchange;
  /** Received part of headers that are not complete. */
  private partialHeaders?: Buffer;
  private status = 0;
  /** Missing bytes of the body: undefined until the headers are complete, infinite for a chunked body. */
  private bodyLeft?: number;
  /** Last received bytes of a chunked body. */
  private tail = CRLF;
  private firstByteAt?: number;

  private constructor(private readonly socket: Socket) {
    socket.setTimeout(STALL_TIMEOUT_MS, () => this.exchange && this.fail(new Error('no response for 30 s')));
    socket.on('data', (bytes) => this.read(bytes));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed the connection')));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Whether the connection can still be used. */
  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  /** @throws Error if the connection breaks, or if nothing arrives for 30 s */
  send(request: Buffer): Promise<TimedResponse> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) return reject(new Error('the connection is closed'));
      this.exchange = { sentAt: performance.now(), resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private fail(error: Error): void {
    this.socket.destroy();
    this.exchange?.reject(error);
    this.exchange = undefined;
  }

  private read(bytes: Buffer): void {
    if (this.bodyLeft === undefined) this.readHeaders(bytes);
    else this.readBody(bytes);
    if (this.bodyLeft === 0) this.finish();
  }

  private readHeaders(received: Buffer): void {
    const bytes = this.partialHeaders ? Buffer.concat([this.partialHeaders, received]) : received;
    const end = bytes.indexOf(HEADERS_END);
    this.partialHeaders = end < 0 ? bytes : undefined;
    if (end < 0) return;
    const headers = bytes.toString('latin1', 0, end);
    this.status = Number(headers.slice(9, 12));
    this.bodyLeft = bodyLength(headers, this.status);
    this.readBody(bytes.subarray(end + HEADERS_END.length));
  }

  private readBody(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.firstByteAt ??= performance.now();
    if (this.bodyLeft !== Infinity) {
      this.bodyLeft! -= bytes.length;
      return;
    }
    this.tail = (this.tail + bytes.toString('latin1', Math.max(0, bytes.length - BODY_END.length))).slice(
      -BODY_END.length,
    );
    if (this.tail === BODY_END) this.bodyLeft = 0;
  }

  private finish(): void {
    const { sentAt, resolve } = this.exchange!;
    const doneMs = performance.now() - sentAt;
    const response = { status: this.status, firstByteMs: (this.firstByteAt ?? NaN) - sentAt, doneMs };
    this.exchange = this.firstByteAt = this.bodyLeft = undefined;
    this.tail = CRLF;
    resolve(response);
  }
}

function bodyLength(headers: string, status: number): number {
  if (status === 204 || status === 304) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(headers)?.[1];
  return length === undefined ? Infinity : Number(length);
}
