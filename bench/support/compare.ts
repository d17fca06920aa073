import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PinnedChild } from './child.js';

/** What two answers to a creation may differ in. */
const NEW_EVERY_TIME = /"id":\d+|"\d+-1"|document-\d+|"(?:created|updated)_at":"[^"]+"/g;

/** Two servers that answer differently cannot be compared. @throws Error when status, ETag or body differ */
export async function assertSameAnswers(
  next: () => Buffer,
  status: number,
  servers: readonly PinnedChild[],
): Promise<void> {
  const answers: string[] = [];
  for (const server of servers) {
    const answer = essence(await exchange(server.port, next()));
    answers.push(status === 201 ? answer.replaceAll(NEW_EVERY_TIME, '*') : answer);
  }
  if (new Set(answers).size !== 1) throw new Error(`different answers:\n${answers.join('\n')}`);
}

function exchange(port: number, request: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
  socket.end(request.toString().replace('Accept: */*', 'Connection: close'));
  return text(socket);
}

function essence(answer: string): string {
  const [head = '', body] = answer.split('\r\n\r\n');
  const etag = /\r\netag: (.*)/i.exec(head)?.[1];
  return [head.slice(0, head.indexOf('\r\n')), etag, body].join('\n');
}
