import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { splitBytes } from '../../../test/support/splits.js';
import type { ResponseHeaders } from '../wire/response-headers.js';
import { Attempt } from './attempt.js';
import type { ResponseReceiver } from './attempt-result.js';
import type { Target } from '../pool/targets.js';
import type { UpstreamConnections } from '../wire/upstream-connections.js';

const STREAM: ResponseHeaders = {
  ...{ status: 200, rawHeaders: [], contentType: 'text/event-stream', isEncoded: false },
  ...{ framing: 'chunked', isPersistent: true },
};

/** Starts an attempt whose response the test delivers, and reports whether its connection is paused. */
function startAttempt(
  taker: Partial<ResponseReceiver>,
  options: { idleMs?: number; head?: ResponseHeaders | null; rejected?: (attempt: Attempt) => void } = {},
) {
  const nothing = () => undefined;
  const { idleMs = 1_000, head = STREAM, rejected = nothing } = options;
  const transfer = { isPaused: false, pause: () => (transfer.isPaused = true) };
  const connections = {
    send: () => ({
      ...transfer,
      pause: transfer.pause,
      resume: () => (transfer.isPaused = false),
      cancel: nothing,
    }),
  };
  const attempt = new Attempt(
    { failoverOn: [] as readonly number[] } as Target,
    { method: 'POST', headers: '', body: Buffer.alloc(0) },
    { firstByteMs: 1_000, idleMs },
    connections as unknown as UpstreamConnections,
    {
      onAccepted: () =>
        attempt.pipeTo({
          hasStarted: true,
          onResponseHeaders: nothing,
          onData: nothing,
          onReadEnd: nothing,
          onEnd: nothing,
          onInterrupted: nothing,
          ...taker,
        }),
      onRejected: rejected,
    },
  );
  attempt.start();
  if (head) attempt.onResponseHeaders(head);
  return { attempt, transfer };
}

it('stays paused if the buffered part already exceeds the capacity of the receiver', () => {
  const { attempt, transfer } = startAttempt({ onData: () => attempt.pause() });
  attempt.onData(Buffer.from('data: {"choices":[]}\n\n'));
  attempt.onReadEnd();
  expect(transfer.isPaused).toBe(true);
  attempt.resume();
  expect(transfer.isPaused).toBe(false);
  attempt.onEnd();
});

it('relays a stream that has only comments after five seconds', () => {
  jest.useFakeTimers();
  try {
    const received: string[] = [];
    const { attempt } = startAttempt({
      onResponseHeaders: () => received.push('headers'),
      onData: (chunk) => received.push(chunk.toString()),
    });
    for (let i = 0; i < 10; i++) {
      jest.advanceTimersByTime(500);
      attempt.onData(Buffer.from(`: ${i}\n\n`));
      attempt.onReadEnd();
    }
    expect(received).toEqual([]);
    jest.advanceTimersByTime(500);
    attempt.onData(Buffer.from(': 10\n\n'));
    attempt.onReadEnd();
    expect([received[0], received.slice(1).join('')]).toEqual([
      'headers',
      Array.from({ length: 11 }, (_, i) => `: ${i}\n\n`).join(''),
    ]);
    attempt.cancel();
  } finally {
    jest.useRealTimers();
  }
});

const OVERLOADED = 'event: error\r\ndata: {"error":{"type":"overloaded_error"}}\r\n\r\n';

it('rejects a stream whose first event is an error that arrives byte by byte', () => {
  const rejected = jest.fn<() => void>();
  const { attempt } = startAttempt({}, { rejected });
  const bytes = Buffer.from(`: ${'x'.repeat(1_000)}\n\n${OVERLOADED}`);
  for (const byte of splitBytes(bytes)) {
    if (attempt.error) break;
    attempt.onData(byte);
    attempt.onReadEnd();
  }
  expect([rejected.mock.calls.length, attempt.error]).toEqual([1, 'stream_error']);
  attempt.cancel();
});

it('relays a stream whose first event exceeds 64 KiB, in few buffers', () => {
  const received: Buffer[] = [];
  const { attempt } = startAttempt({ onData: (chunk) => received.push(chunk) });
  const line = Buffer.from(`data: ${'x'.repeat(65_536)}`);
  for (let at = 0; at < line.length && received.length === 0; at += 10) {
    attempt.onData(line.subarray(at, at + 10));
    attempt.onReadEnd();
  }
  expect(Buffer.concat(received).length).toBe(65_540);
  expect(received.length).toBeLessThan(20);
  attempt.onEnd();
});

it('relays a compressed stream at once, because its events cannot be parsed', () => {
  const received = jest.fn();
  const { attempt } = startAttempt({ onResponseHeaders: received }, { head: { ...STREAM, isEncoded: true } });
  expect(received).toHaveBeenCalled();
  attempt.onEnd();
});

it('does not count the pause of a slow client as idle time', () => {
  jest.useFakeTimers();
  try {
    const onInterrupted = jest.fn();
    const { attempt } = startAttempt({ onInterrupted });
    attempt.onData(Buffer.from('data: {"choices":[]}\n\n'));
    attempt.onReadEnd();
    attempt.pause();
    jest.advanceTimersByTime(990);
    attempt.resume();
    jest.advanceTimersByTime(990);
    expect(onInterrupted).not.toHaveBeenCalled();
    jest.advanceTimersByTime(20);
    expect(onInterrupted).toHaveBeenCalled();
  } finally {
    jest.useRealTimers();
  }
});

it('stops its timer at the end of the response', () => {
  jest.useFakeTimers({ doNotFake: ['performance'] });
  try {
    const { attempt } = startAttempt({});
    attempt.onData(Buffer.from('data: {"choices":[]}\n\n'));
    attempt.onReadEnd();
    expect(jest.getTimerCount()).toBe(1);
    attempt.onEnd();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

it('restarts the first-byte limit for the retry on a new connection', () => {
  jest.useFakeTimers();
  try {
    const { attempt } = startAttempt({}, { head: null });
    jest.advanceTimersByTime(900);
    attempt.onError('reset', true);
    jest.advanceTimersByTime(999);
    expect(attempt.error).toBeNull();
    jest.advanceTimersByTime(10);
    expect(attempt.error).toBe('timeout');
  } finally {
    jest.useRealTimers();
  }
});

it('stops its timer when the rejection listener cancels it', () => {
  jest.useFakeTimers({ doNotFake: ['performance'] });
  try {
    const { attempt } = startAttempt({}, { rejected: (each) => each.cancel() });
    expect(jest.getTimerCount()).toBe(1);
    attempt.onData(Buffer.from('data: {"error":{"type":"overloaded_error"}}\n\n'));
    attempt.onReadEnd();
    expect(attempt.error).toBe('stream_error');
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

/** Opens a connection and returns both ends. */
async function openConnection(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  return [near, far];
}

it('does not time out on bytes that arrived while the process was blocked', async () => {
  const [near, far] = await openConnection();
  const onInterrupted = jest.fn();
  const { attempt } = startAttempt({ onInterrupted }, { idleMs: 50 });
  near.on('data', (chunk: Buffer) => {
    attempt.onData(chunk);
    attempt.onReadEnd();
  });
  for (let i = 0; i < 3; i++) {
    const received = once(near, 'data');
    far.write('data: {"choices":[]}\n\n');
    for (const until = performance.now() + 100; performance.now() < until;);
    await received;
    await nextTurn();
  }
  expect(onInterrupted).not.toHaveBeenCalled();
  attempt.onEnd();
  near.destroy();
  far.destroy();
});
