import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PinnedChild } from './child.js';

/** Parts of the response to a creation that differ from one creation to the next. */
const VARIABLE_PARTS = /"id":\d+|"\d+-1"|document-\d+|"(?:created|updated)_at":"[^"]+"/g;

/** @throws Error if the servers respond with different status, ETag or body, and so cannot be compared */
export async function assertSameResponses(
  next: () => Buffer,
  status: number,
  servers: readonly PinnedChild[],
): Promise<void> {
  const responses: string[] = [];
  for (const server of servers) {
    const response = comparableParts(await exchange(server.port, next()));
    responses.push(status === 201 ? response.replaceAll(VARIABLE_PARTS, '*') : response);
  }
  if (new Set(responses).size !== 1) throw new Error(`different responses:\n${responses.join('\n')}`);
}

function exchange(port: number, request: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(10_000, () => socket.destroy(new Error('no response for 10 s')));
  socket.end(request.toString().replace('Accept: */*', 'Connection: close'));
  return text(socket);
}

function comparableParts(response: string): string {
  const [headers = '', body] = response.split('\r\n\r\n');
  const etag = /\r\netag: (.*)/i.exec(headers)?.[1];
  return [headers.slice(0, headers.indexOf('\r\n')), etag, body].join('\n');
}
