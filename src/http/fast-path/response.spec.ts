import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastPathRequest } from './request.js';
import { FastPathResponse } from './response.js';

const ROOM = 16_384;
const CHUNK = Buffer.alloc(8_000);

/** Starts a response on a connection whose buffer is nearly full, and counts its `drain` events. */
function startResponse() {
  const socket = {
    writable: true,
    destroyed: false,
    writableLength: ROOM - 1_000,
    writableHighWaterMark: ROOM,
    write: () => socket.writableLength < ROOM,
  };
  const request = { method: 'GET', socket: socket as unknown as Socket } as FastPathRequest;
  const response = new FastPathResponse(request, 1_000, { onResponseFinish: () => undefined });
  const drains = { count: 0 };
  response.on('drain', () => drains.count++);
  response.writeHead(200).flushHeaders();
  return { response, socket, drains };
}

it.each([
  ['after the buffer had room again', 0],
  ['although a later write found room', 1],
])('emits drain once after a rejected write, %s', async (_when, more) => {
  const { response, socket, drains } = startResponse();
  expect(response.write(CHUNK)).toBe(false);
  socket.writableLength = 0;
  for (let i = 0; i < more; i++) expect(response.write(Buffer.from('x'))).toBe(false);
  await turn();
  await turn();
  expect(drains.count).toBe(1);
  expect(response.write(CHUNK)).toBe(true);
});
