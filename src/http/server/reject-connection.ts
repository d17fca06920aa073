import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { HEADERS_TOO_LARGE } from '../../common/api/domain-error.js';
import { errorBody } from '../../common/api/error.filter.js';
import { newRequestId } from '../../common/api/request-id.js';
import { lingerUntilClosed } from '../linger.js';

/** Messages of the rejections that are sent before there is a request to route, by status. */
const MESSAGES = {
  400: 'malformed request',
  408: 'the request did not arrive in time',
  413: 'the chunk extensions of the body are too large',
  431: HEADERS_TOO_LARGE.message,
} as const;

export type ConnectionRejection = keyof typeof MESSAGES;

/**
 * Sends the response and ends the connection. Bytes that still arrive are read and dropped. The kernel resets a
 * connection that is closed with unread bytes, and the client may lose the response.
 */
export function rejectConnection(socket: Socket, status: ConnectionRejection): void {
  const body = JSON.stringify(errorBody(MESSAGES[status]));
  socket.on('data', () => undefined); // detaches Node's parser from the socket
  socket.removeAllListeners('data').resume();
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Request-Id: ${newRequestId()}\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  lingerUntilClosed(socket);
}

/** Status for an error of Node's parser or of its timeouts. */
export function rejectionStatus({ code }: NodeJS.ErrnoException): ConnectionRejection {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}
