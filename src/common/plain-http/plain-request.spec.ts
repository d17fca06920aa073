import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { PlainHead } from './plain-head.js';
import { PlainRequest } from './plain-request.js';

const HEAD = { method: 'POST', url: '/', headers: {}, rawHeaders: [], bodyLength: 9 } as unknown as PlainHead;

let socket: PassThrough;
let request: PlainRequest;
let told: string[];

beforeEach(() => {
  socket = new PassThrough();
  socket.resume();
  request = new PlainRequest(HEAD, socket as unknown as Socket);
  told = [];
});

const tell = (chunk: Buffer) => told.push(chunk.toString());
const push = (text: string) => request.push(Buffer.from(text))?.toString();

it('keeps what comes before anybody wants it, and reads no more until then', async () => {
  push('123');
  expect(socket.isPaused()).toBe(true);
  request.on('data', tell);
  await turn();
  expect(socket.isPaused()).toBe(false);
  push('456');
  expect(push('789next')).toBe('next');
  expect(told).toEqual(['123', '456', '789']);
});

it.each([
  ['with what came before it was wanted', () => push('123'), () => undefined],
  ['with what comes', () => undefined, () => push('123')],
])('reads no more while it is paused %s', async (_, before, afterwards) => {
  before();
  request.on('data', (chunk) => {
    tell(chunk);
    request.pause();
  });
  await turn();
  afterwards();
  await turn();
  expect([told, socket.isPaused()]).toEqual([['123'], true]);
  request.resume();
  expect(socket.isPaused()).toBe(false);
});

it('a pause behind the end does not stop what follows on the connection', () => {
  request.on('data', tell);
  push('123456789');
  request.pause();
  expect(socket.isPaused()).toBe(false);
});
