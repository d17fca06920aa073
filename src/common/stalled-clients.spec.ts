import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { jest } from '@jest/globals';
import { StalledClients } from './stalled-clients.js';

const TIMEOUT_MS = 1_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A connection on which so many bytes wait, of so many that were written. */
function connection(written: number, waiting: number) {
  const socket = {
    bytesWritten: written,
    writableLength: waiting,
    isCut: false,
    resetAndDestroy: () => (socket.isCut = true),
  };
  return socket;
}

function watch(...sockets: ReturnType<typeof connection>[]): Server {
  const server = new EventEmitter() as Server;
  new StalledClients(server, { sockets: sockets as unknown as Socket[] }, TIMEOUT_MS);
  return server;
}

it('cuts off who takes nothing, after the timeout and a quarter of it at most', () => {
  const socket = connection(1_000, 400);
  watch(socket);
  jest.advanceTimersByTime(TIMEOUT_MS);
  expect(socket.isCut).toBe(false);
  jest.advanceTimersByTime(TIMEOUT_MS / 4);
  expect(socket.isCut).toBe(true);
});

it('does not count what is written meanwhile as taken', () => {
  const socket = connection(1_000, 400);
  watch(socket);
  for (let i = 0; i < 5; i++) {
    jest.advanceTimersByTime(TIMEOUT_MS / 4);
    socket.bytesWritten += 100;
    socket.writableLength += 100;
  }
  expect(socket.isCut).toBe(true);
});

it('leaves those alone that take something, however slowly, and those for whom nothing waits', () => {
  const [slow, done, idle] = [connection(1_000, 400), connection(1_000, 400), connection(1_000, 0)];
  watch(slow, done, idle);
  for (let i = 0; i < 100; i++) {
    if (i % 3 === 0) slow.writableLength--;
    if (i === 2) done.writableLength = 0;
    jest.advanceTimersByTime(TIMEOUT_MS / 4);
  }
  expect([slow.isCut, done.isCut, idle.isCut]).toEqual([false, false, false]);
});

it('ends with the server', () => {
  watch(connection(0, 0)).emit('close');
  expect(jest.getTimerCount()).toBe(0);
});
