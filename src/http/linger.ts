import type { Socket } from 'node:net';

/** Time for which a client may go on sending after its connection was ended. */
const LINGER_MS = 1_000;

/**
 * Makes Node end a connection without a reset after its last response, although the client goes on sending. A reset may
 * destroy the response before the client has read it. The bytes must still be read, and dropped.
 */
export function lingerAtEnd(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    lingerUntilClosed(socket);
  };
}

/** Destroys a connection that the client does not close in time. */
export function lingerUntilClosed(socket: Socket): void {
  const deadline = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(deadline));
}
