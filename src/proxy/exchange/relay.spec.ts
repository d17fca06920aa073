import { jest } from '@jest/globals';
import type { HttpResponse } from '../../http/http-exchange.js';
import type { ResponseHeaders } from '../wire/response-headers.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { Relay } from './relay.js';

const HEADERS: ResponseHeaders = {
  status: 200,
  rawHeaders: [],
  contentType: 'audio/mpeg',
  isEncoded: false,
  framing: 'chunked',
  isPersistent: true,
};

/** Starts a relay to a fake client that counts writes. */
function startRelay() {
  const socket = { writableLength: 0 };
  const callbacks: (() => void)[] = [];
  const response = {
    socket,
    destroyed: false,
    hasRoom: true,
    writeHead: () => undefined,
    written: [] as string[],
    write(chunk: Buffer | string, written?: () => void): boolean {
      if (written) callbacks.push(written);
      else response.written.push(chunk.toString());
      return response.hasRoom;
    },
    once: (_event: string, listener: () => void) => callbacks.push(listener),
  };
  const listener = { onBackpressure: jest.fn(), onDrain: jest.fn() };
  const request = { id: 'id', path: '/v1/x', limitHeaders: [], releaseBody: () => undefined };
  const relay = new Relay(request as unknown as ProxiedRequest, response as unknown as HttpResponse, {
    ...listener,
    onStreamStart: () => undefined,
    onResponseComplete: () => undefined,
    onResponseInterrupted: () => undefined,
  });
  relay.onResponseHeaders(HEADERS);
  return { relay, response, socket, listener, callbacks };
}

/** Counts the calls of `onBackpressure` and `onDrain`. */
function counts({ listener }: ReturnType<typeof startRelay>): [number, number] {
  return [listener.onBackpressure.mock.calls.length, listener.onDrain.mock.calls.length];
}

it('does not pause the upstream while the client keeps up', () => {
  const started = startRelay();
  for (let i = 0; i < 100; i++) started.relay.onData(Buffer.from('x'));
  expect(counts(started)).toEqual([0, 0]);
});

it.each([
  ['the queue of the socket has room', true],
  ['the queue of the socket is full', false],
])('pauses the upstream of a slow client after two reads while %s', (_case, hasRoom) => {
  const started = startRelay();
  const { relay, response, socket, callbacks } = started;
  relay.onData(Buffer.from('a'));
  socket.writableLength = 6;
  response.hasRoom = hasRoom;
  relay.onData(Buffer.from('b'));
  expect(counts(started)).toEqual([1, 0]);
  relay.onData(Buffer.from('c')); // a later chunk of the same read
  expect([counts(started), callbacks.length]).toEqual([[1, 0], 1]);
  socket.writableLength = 0;
  response.hasRoom = true;
  callbacks.shift()!();
  expect(counts(started)).toEqual([1, 1]);
  relay.onData(Buffer.from('d'));
  expect([counts(started), response.written]).toEqual([
    [1, 1],
    ['a', 'b', 'c', 'd'],
  ]);
});

it('pauses the upstream after one read while an earlier response occupies the client connection', () => {
  const started = startRelay();
  (started.response as { socket: unknown }).socket = null;
  started.relay.onData(Buffer.from('a'));
  expect(counts(started)).toEqual([1, 0]);
  started.callbacks.shift()!();
  expect(counts(started)).toEqual([1, 1]);
});
