import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { AnswerHead } from './answer-head.js';
import { Attempt } from './attempt.js';
import type { AnswerTaker } from './attempt.js';
import type { Target } from './target.js';
import type { UpstreamConnections } from './upstream-connections.js';

const STREAM: AnswerHead = {
  ...{ status: 200, headers: [], contentType: 'text/event-stream', encoded: false },
  ...{ framing: 'chunked', persistent: true },
};

/** An attempt whose answer is told by hand, and whether its connection is paused. */
function startAttempt(
  taker: Partial<AnswerTaker>,
  options: { idleMs?: number; head?: AnswerHead | null; rejected?: (attempt: Attempt) => void } = {},
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
    {} as Target,
    { method: 'POST', head: '', body: Buffer.alloc(0) },
    { firstByteMs: 1_000, idleMs },
    connections as unknown as UpstreamConnections,
    {
      accepted: () =>
        attempt.passTo({
          hasBegun: true,
          head: nothing,
          data: nothing,
          settled: nothing,
          end: nothing,
          cut: nothing,
          ...taker,
        }),
      rejected,
    },
  );
  attempt.start();
  if (head) attempt.head(head);
  return { attempt, transfer };
}

it('stays paused when the taker has enough with what was held for it', () => {
  const { attempt, transfer } = startAttempt({ data: () => attempt.pause() });
  attempt.data(Buffer.from('data: {"choices":[]}\n\n'));
  attempt.settled();
  expect(transfer.isPaused).toBe(true);
  attempt.resume();
  expect(transfer.isPaused).toBe(false);
  attempt.end();
});

it('passes on a stream of comments after five seconds, for those who wait to hear it', () => {
  jest.useFakeTimers();
  try {
    const told: string[] = [];
    const { attempt } = startAttempt({
      head: () => told.push('head'),
      data: (chunk) => told.push(chunk.toString()),
    });
    for (let i = 0; i < 10; i++) {
      jest.advanceTimersByTime(500);
      attempt.data(Buffer.from(`: ${i}\n\n`));
      attempt.settled();
    }
    expect(told).toEqual([]);
    jest.advanceTimersByTime(500);
    attempt.data(Buffer.from(': 10\n\n'));
    attempt.settled();
    expect([told[0], told.slice(1).join('')]).toEqual([
      'head',
      Array.from({ length: 11 }, (_, i) => `: ${i}\n\n`).join(''),
    ]);
    attempt.cancel();
  } finally {
    jest.useRealTimers();
  }
});

it('passes on a stream whose first event comes byte by byte, when it was looked at often enough', () => {
  const told: string[] = [];
  const { attempt } = startAttempt({
    head: () => told.push('head'),
    data: (chunk) => told.push(chunk.toString()),
  });
  attempt.data(Buffer.from('data: '));
  for (let i = 0; i < 255; i++) {
    attempt.settled();
    attempt.data(Buffer.from('x'));
  }
  attempt.settled();
  expect(told).toEqual([]);
  attempt.settled();
  expect([told[0], told.slice(1).join('')]).toEqual(['head', `data: ${'x'.repeat(255)}`]);
  attempt.end();
});

it('passes on at once a stream that is compressed, for its events cannot be read', () => {
  const told = jest.fn();
  const { attempt } = startAttempt({ head: told }, { head: { ...STREAM, encoded: true } });
  expect(told).toHaveBeenCalled();
  attempt.end();
});

it('does not take for silence what the client did not read', () => {
  jest.useFakeTimers();
  try {
    const cut = jest.fn();
    const { attempt } = startAttempt({ cut });
    attempt.data(Buffer.from('data: {"choices":[]}\n\n'));
    attempt.settled();
    attempt.pause();
    jest.advanceTimersByTime(990);
    attempt.resume();
    jest.advanceTimersByTime(990);
    expect(cut).not.toHaveBeenCalled();
    jest.advanceTimersByTime(20);
    expect(cut).toHaveBeenCalled();
  } finally {
    jest.useRealTimers();
  }
});

it('waits for nothing any more when its answer has ended', () => {
  jest.useFakeTimers({ doNotFake: ['performance'] });
  try {
    const { attempt } = startAttempt({});
    attempt.data(Buffer.from('data: {"choices":[]}\n\n'));
    attempt.settled();
    expect(jest.getTimerCount()).toBe(1);
    attempt.end();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

it('has all of its time again on a fresh connection', () => {
  jest.useFakeTimers();
  try {
    const { attempt } = startAttempt({}, { head: null });
    jest.advanceTimersByTime(900);
    attempt.failed('reset', true);
    jest.advanceTimersByTime(999);
    expect(attempt.error).toBeNull();
    jest.advanceTimersByTime(10);
    expect(attempt.error).toBe('timeout');
  } finally {
    jest.useRealTimers();
  }
});

it('waits for nothing any more when it is cancelled while it is judged', () => {
  jest.useFakeTimers({ doNotFake: ['performance'] });
  try {
    const { attempt } = startAttempt({}, { rejected: (each) => each.cancel() });
    expect(jest.getTimerCount()).toBe(1);
    attempt.data(Buffer.from('data: {"error":{"type":"overloaded_error"}}\n\n'));
    attempt.settled();
    expect(attempt.error).toBe('stream_error');
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

/** Both ends of a connection. */
async function openConnection(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  return [near, far];
}

it('does not take for silence what came while the process was held up', async () => {
  const cut = jest.fn();
  const { attempt } = startAttempt({ cut }, { idleMs: 50 });
  const [near, far] = await openConnection();
  near.on('data', (chunk: Buffer) => {
    attempt.data(chunk);
    attempt.settled();
  });
  for (let i = 0; i < 3; i++) {
    const told = once(near, 'data');
    far.write('data: {"choices":[]}\n\n');
    for (const until = performance.now() + 100; performance.now() < until;);
    await told;
    await nextTurn();
  }
  expect(cut).not.toHaveBeenCalled();
  attempt.end();
  near.destroy();
  far.destroy();
});
