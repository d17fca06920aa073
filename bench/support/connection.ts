import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** From sending the request to the first byte of the body. */
  readonly firstByteMs: number;
  /** From sending the request to the last byte. */
  readonly doneMs: number;
}

interface Exchange {
  readonly sentAt: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

const STALL_TIMEOUT_MS = 30_000;
const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/**
 * A keep-alive connection for one request at a time. It reads of an answer the status and where it ends (by
 * Content-Length, by the last chunk, or without a body): it has to cost little, for it shares its core.
 */
export class Connection {
  private exchange?: Exchange;
  /** Of an answer whose head is not complete. */
  private begun?: Buffer;
  private status = 0;
  /** Undefined while the head is not complete, infinite for a body in chunks. */
  private bodyLeft?: number;
  /** What has come of a body in chunks ended in this. */
  private tail = '';
  private firstByteAt?: number;

  private constructor(private readonly socket: Socket) {
    socket.setTimeout(STALL_TIMEOUT_MS, () => this.exchange && this.fail(new Error('no answer for 30 s')));
    socket.on('data', (bytes) => this.read(bytes));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed a connection')));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Whether the server has not closed it. */
  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  /** @throws Error when the connection breaks, or nothing comes for 30 s */
  send(request: Buffer): Promise<Answer> {
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
    if (this.bodyLeft === undefined) this.readHead(this.begun ? Buffer.concat([this.begun, bytes]) : bytes);
    else this.readBody(bytes);
    if (this.bodyLeft === 0) this.finish();
  }

  private readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END);
    this.begun = end < 0 ? bytes : undefined;
    if (end < 0) return;
    const head = bytes.toString('latin1', 0, end);
    this.status = Number(head.slice(9, 12));
    this.bodyLeft = bodyLength(head, this.status);
    this.readBody(bytes.subarray(end + HEAD_END.length));
  }

  private readBody(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.firstByteAt ??= performance.now();
    if (this.bodyLeft !== Infinity) {
      this.bodyLeft! -= bytes.length;
      return;
    }
    this.tail = (this.tail + bytes.toString('latin1', Math.max(0, bytes.length - 7))).slice(-7);
    if (this.tail === `\r\n${LAST_CHUNK}`) this.bodyLeft = 0;
  }

  private finish(): void {
    const { sentAt, resolve } = this.exchange!;
    const doneMs = performance.now() - sentAt;
    const answer = { status: this.status, firstByteMs: (this.firstByteAt ?? NaN) - sentAt, doneMs };
    this.exchange = this.firstByteAt = this.bodyLeft = undefined;
    this.tail = '';
    resolve(answer);
  }
}

function bodyLength(head: string, status: number): number {
  if (status === 204 || status === 304) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? Infinity : Number(length);
}
