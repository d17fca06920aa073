import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody } from './error.filter.js';
import { newRequestId } from './request-id.js';

/** Statuses of what is refused before there is a request to route, with what the client is told. */
const REFUSALS = {
  400: 'malformed request',
  408: 'the request did not come in time',
  413: 'the chunks of the body have too large extensions',
  431: 'the headers are too large or too many',
} as const;

export type ConnectionRefusal = keyof typeof REFUSALS;

/** How long a refused client may go on sending. */
const LINGER_MS = 1_000;

/** What an error of Node's parser or of its deadlines is answered with. */
export function refusalOf({ code }: NodeJS.ErrnoException): ConnectionRefusal {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

/**
 * Answers and ends a connection. What still comes is dropped, unread by the parser: a connection that is closed
 * on a sender is reset, and the answer may be lost with it.
 */
export function refuseConnection(socket: Socket, status: ConnectionRefusal): void {
  const body = JSON.stringify(errorBody(REFUSALS[status]));
  socket.on('data', () => undefined); // takes the socket back from the parser, ...
  socket.removeAllListeners('data').resume(); // ... which gets nothing any more
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Request-Id: ${newRequestId()}\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const deadline = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(deadline));
}
