import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { RequestHeaders } from './request-headers.js';
import { FastPathRequest } from './request.js';

const HEADERS = {
  method: 'POST',
  url: '/',
  headers: {},
  rawHeaders: [],
  bodyLength: 9,
} as unknown as RequestHeaders;

let socket: PassThrough;
let request: FastPathRequest;
let chunks: string[];

beforeEach(() => {
  socket = new PassThrough();
  socket.resume();
  request = new FastPathRequest(HEADERS, socket as unknown as Socket);
  chunks = [];
});

const collect = (chunk: Buffer) => chunks.push(chunk.toString());
const push = (text: string) => request.push(Buffer.from(text))?.toString();

it('keeps bytes that arrive before the first reader, and pauses the socket until then', async () => {
  push('123');
  expect(socket.isPaused()).toBe(true);
  request.on('data', collect);
  await turn();
  expect(socket.isPaused()).toBe(false);
  push('456');
  expect(push('789next')).toBe('next');
  expect(chunks).toEqual(['123', '456', '789']);
});

it.each([
  ['by a chunk that arrived before the first reader', () => push('123'), () => undefined],
  ['by a later chunk', () => undefined, () => push('123')],
])('reads nothing more while it is paused %s', async (_, before, afterwards) => {
  before();
  request.on('data', (chunk) => {
    collect(chunk);
    request.pause();
  });
  await turn();
  afterwards();
  await turn();
  expect([chunks, socket.isPaused()]).toEqual([['123'], true]);
  request.resume();
  expect(socket.isPaused()).toBe(false);
});

it('does not pause the connection after the end of the body', () => {
  request.on('data', collect);
  push('123456789');
  request.pause();
  expect(socket.isPaused()).toBe(false);
});
