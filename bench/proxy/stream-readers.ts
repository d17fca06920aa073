import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

const EVENT = 'data: ';
const OPENED_AT_ONCE = 50;
const OPEN_TIMEOUT_MS = 10_000;

/** Clients that keep streams open. */
export class StreamReaders {
  /** Number of events that have arrived, over all streams. */
  events = 0;
  private failure?: Error;
  private closing = false;
  private readonly sockets: Socket[] = [];

  private constructor(private readonly paused: boolean) {}

  /**
   * @param paused the sockets are paused after the first bytes
   * @throws Error if a stream does not begin with status 200 within 10 s
   */
  static async open(port: number, requests: readonly Buffer[], paused = false): Promise<StreamReaders> {
    const readers = new StreamReaders(paused);
    try {
      for (let i = 0; i < requests.length; i += OPENED_AT_ONCE) {
        const some = requests.slice(i, i + OPENED_AT_ONCE);
        await Promise.all(some.map((request) => readers.openOne(port, request)));
      }
    } catch (error) {
      readers.close();
      throw error;
    }
    return readers;
  }

  get streams(): readonly Socket[] {
    return this.sockets;
  }

  /** @throws Error if a stream has ended */
  assertAllOpen(): void {
    if (this.failure) throw this.failure;
  }

  close(): void {
    this.closing = true;
    for (const socket of this.sockets) socket.destroy();
  }

  private async openOne(port: number, request: Buffer): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.sockets.push(socket);
    await once(socket, 'connect');
    socket.write(request);
    const [first] = (await once(socket, 'data', {
      signal: AbortSignal.timeout(OPEN_TIMEOUT_MS),
    }).catch(() => {
      throw new Error(`a stream did not begin within ${OPEN_TIMEOUT_MS / 1_000} s`);
    })) as [Buffer];
    if (this.paused) socket.pause();
    const headers = first.toString('latin1');
    if (!headers.startsWith('HTTP/1.1 200')) throw new Error(`a stream was rejected: ${headers}`);
    socket.on('data', (bytes) => this.count(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (!this.closing) this.failure = new Error('a stream was interrupted');
    });
  }

  private count(bytes: Buffer): void {
    for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + 1)) this.events++;
  }
}
