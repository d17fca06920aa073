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
function startAttempt(taker: Partial<AnswerTaker>) {
  const transfer = { isPaused: false, pause: () => (transfer.isPaused = true) };
  const connections = {
    send: () => ({ ...transfer, pause: transfer.pause, resume: () => (transfer.isPaused = false) }),
  };
  const nothing = () => undefined;
  const attempt = new Attempt(
    {} as Target,
    { method: 'POST', head: '', body: Buffer.alloc(0) },
    { firstByteMs: 1_000, idleMs: 1_000 },
    connections as unknown as UpstreamConnections,
    {
      accepted: () =>
        attempt.passTo({
          head: nothing,
          data: nothing,
          settled: nothing,
          end: nothing,
          cut: nothing,
          ...taker,
        }),
      rejected: nothing,
    },
  );
  attempt.start();
  attempt.head(STREAM);
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
