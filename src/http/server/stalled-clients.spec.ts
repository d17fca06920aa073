import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { jest } from '@jest/globals';
import { StalledClients } from './stalled-clients.js';

const TIMEOUT_MS = 1_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** @param waiting bytes that the client has not read yet, of those that were written */
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

it('resets a connection whose client reads nothing, at most a quarter of the timeout late', () => {
  const socket = connection(1_000, 400);
  watch(socket);
  jest.advanceTimersByTime(TIMEOUT_MS);
  expect(socket.isCut).toBe(false);
  jest.advanceTimersByTime(TIMEOUT_MS / 4);
  expect(socket.isCut).toBe(true);
});

it('does not count new writes as progress of the client', () => {
  const socket = connection(1_000, 400);
  watch(socket);
  for (let i = 0; i < 5; i++) {
    jest.advanceTimersByTime(TIMEOUT_MS / 4);
    socket.bytesWritten += 100;
    socket.writableLength += 100;
  }
  expect(socket.isCut).toBe(true);
});

it('keeps slow clients, and clients for whom nothing waits', () => {
  const [slow, done, idle] = [connection(1_000, 400), connection(1_000, 400), connection(1_000, 0)];
  watch(slow, done, idle);
  for (let i = 0; i < 100; i++) {
    if (i % 3 === 0) slow.writableLength--;
    if (i === 2) done.writableLength = 0;
    jest.advanceTimersByTime(TIMEOUT_MS / 4);
  }
  expect([slow.isCut, done.isCut, idle.isCut]).toEqual([false, false, false]);
});

it('stops checking when the server closes', () => {
  watch(connection(0, 0)).emit('close');
  expect(jest.getTimerCount()).toBe(0);
});
