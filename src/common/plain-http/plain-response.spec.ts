import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { PlainRequest } from './plain-request.js';
import { PlainResponse } from './plain-response.js';

const ROOM = 16_384;
const CHUNK = Buffer.alloc(8_000);

/** A response on a connection that is nearly full, and how often it has told to go on. */
function startResponse() {
  const socket = {
    ...{ writable: true, destroyed: false, writableLength: ROOM - 1_000, writableHighWaterMark: ROOM },
    write: () => socket.writableLength < ROOM,
  };
  const request = { method: 'GET', socket: socket as unknown as Socket } as PlainRequest;
  const response = new PlainResponse(request, 1_000, { finished: () => undefined });
  const told = { times: 0 };
  response.on('drain', () => told.times++);
  response.writeHead(200).flushHeaders();
  return { response, socket, told };
}

it.each([
  ['when there is room by the time of the write', 0],
  ['also when there was room for what came then', 1],
])('tells who was told to wait to go on, %s', async (_when, more) => {
  const { response, socket, told } = startResponse();
  expect(response.write(CHUNK)).toBe(false);
  socket.writableLength = 0;
  for (let i = 0; i < more; i++) expect(response.write(Buffer.from('x'))).toBe(false);
  await turn();
  await turn();
  expect(told.times).toBe(1);
  expect(response.write(CHUNK)).toBe(true);
});
