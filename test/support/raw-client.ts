import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A client that sends what it likes, when it likes. */
export interface RawClient {
  readonly socket: Socket;
  /** Bytes received so far, as text. */
  text(): string;
  /** All bytes received, once the connection is closed. */
  readonly closed: Promise<string>;
  /** Sends a piece again and again, until the connection is closed. */
  repeat(piece: string, intervalMs: number): void;
}

/** @param first what it sends at once */
export async function connectRaw({ url }: { url: string }, first = ''): Promise<RawClient> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  const pieces: Buffer[] = [];
  const text = () => Buffer.concat(pieces).toString('latin1');
  // Being reset is one way of being closed.
  socket.on('data', (piece: Buffer) => pieces.push(piece)).on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text())));
  socket.write(first);
  return {
    ...{ socket, text, closed },
    repeat: (piece, intervalMs) => {
      const sending = setInterval(() => socket.write(piece), intervalMs);
      socket.once('close', () => clearInterval(sending));
    },
  };
}

/** Statuses of all responses in the received text. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
