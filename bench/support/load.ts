import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** The bytes of the next request on a connection. */
  readonly next: () => Buffer;
  /** What every answer must be; anything else ends the run. */
  readonly status: number;
  /** When to stop: after this time, or after so many requests. */
  readonly until: { readonly seconds: number } | { readonly requests: number };
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Of every request, ascending. */
  readonly latenciesMs: Float64Array;
}

const STALL_TIMEOUT_MS = 10_000;
const HEAD_END = '\r\n\r\n';

/**
 * Keep-alive connections that each send a request as soon as the last one is answered. Reads answers with a
 * Content-Length, or without a body, and no more of them than status and length: it has to cost little, for
 * it shares its core with PostgreSQL.
 * @throws Error when an answer is not the expected one, or none comes for 10 s
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  const goOn =
    'seconds' in load.until ? until(start + load.until.seconds * 1_000) : atMost(load.until.requests);
  const connections = Array.from({ length: load.connections }, () => new Connection(load, latencies, goOn));
  try {
    await Promise.all(connections.map((connection) => connection.done));
  } finally {
    for (const connection of connections) connection.close();
  }
  const seconds = (performance.now() - start) / 1_000;
  return { requests: latencies.length, seconds, latenciesMs: Float64Array.from(latencies).sort() };
}

function until(deadline: number): (now: number) => boolean {
  return (now) => now < deadline;
}

function atMost(requests: number): () => boolean {
  let begun = 0;
  return () => begun++ < requests;
}

class Connection {
  readonly done: Promise<void>;
  private readonly socket: Socket;
  private resolve: () => void;
  private reject: (error: Error) => void;
  private sentAt = 0;
  /** Of an answer whose head is not complete. */
  private begun?: Buffer;
  /** Undefined while the head is not complete. */
  private bodyLeft?: number;

  constructor(
    private readonly load: Load,
    private readonly latencies: number[],
    private readonly goOn: (now: number) => boolean,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true });
    this.socket.setTimeout(STALL_TIMEOUT_MS, () => this.reject(new Error('no answer for 10 s')));
    this.socket.on('connect', () => this.send(performance.now()));
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', (error) => this.reject(error));
    this.socket.on('close', () => this.reject(new Error('the server closed a connection')));
  }

  close(): void {
    this.socket.destroy();
  }

  private send(now: number): void {
    if (!this.goOn(now)) return this.resolve();
    this.sentAt = now;
    this.socket.write(this.load.next());
  }

  private read(chunk: Buffer): void {
    if (this.bodyLeft === undefined) this.readHead(this.begun ? Buffer.concat([this.begun, chunk]) : chunk);
    else this.bodyLeft -= chunk.length;
    if (this.bodyLeft !== 0) return;
    this.bodyLeft = undefined;
    const now = performance.now();
    this.latencies.push(now - this.sentAt);
    this.send(now);
  }

  private readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END);
    this.begun = end < 0 ? bytes : undefined;
    if (end < 0) return;
    const head = bytes.toString('latin1', 0, end);
    const status = Number(head.slice(9, 12));
    const length = bodyLength(head, status);
    if (status !== this.load.status || length === undefined) {
      this.reject(new Error(`an answer that was not expected: ${bytes.toString()}`));
      return;
    }
    this.bodyLeft = length - (bytes.length - end - HEAD_END.length);
  }
}

function bodyLength(head: string, status: number): number | undefined {
  if (status === 204 || status === 304) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? undefined : Number(length);
}
