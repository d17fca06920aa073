import fc from 'fast-check';
import type { Settings } from '../../../config/settings.js';
import { BodyBudget } from './body-budget.js';
import { STEP_BYTES } from './held-body.js';
import type { HeldBody } from './held-body.js';

const MIB = 1_048_576;

/** Simulates a client that sends a body, in reads of at most `STEP_BYTES`. */
class Upload {
  arrivedBytes = STEP_BYTES;
  isPaused = false;
  isTooSlow = false;
  isComplete = false;
  isReleased = false;
  readonly held: HeldBody;

  constructor(
    budget: BodyBudget,
    readonly owner: number,
    readonly bytes: number,
    wantedBytes = bytes,
  ) {
    const request = { pause: () => (this.isPaused = true), resume: () => (this.isPaused = false) };
    const size = { wantedBytes, arrivedBytes: this.arrivedBytes };
    this.held = budget.hold(request, owner, size, () => {
      this.isTooSlow = true;
      this.release();
    });
  }

  /** Sends until the service pauses the body. */
  send(bytes = Infinity): void {
    let left = Math.min(bytes, this.bytes - this.arrivedBytes);
    while (left > 0 && !this.isPaused && !this.isReleased) {
      const read = Math.min(left, STEP_BYTES);
      left -= read;
      this.arrivedBytes += read;
      this.held.onData(read);
    }
    if (this.isReleased || this.isComplete || this.arrivedBytes < this.bytes) return;
    this.isComplete = true;
    this.held.onEnd();
  }

  release(): void {
    this.isReleased = true;
    this.held.release();
  }
}

const budgetOf = (bytes: number) => new BodyBudget({ proxyBodyMemoryBytes: bytes } as Settings);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const reservedBy = (uploads: readonly Upload[]) => sum(uploads.map(({ held }) => held.reservedBytes));
const completeOf = (uploads: readonly Upload[]) => uploads.filter(({ isComplete }) => isComplete).length;

type Step = readonly ['begin' | 'send' | 'release' | 'tick', at: number, bytes: number, isChunked: boolean];

const LIMIT_BYTES = 64 * STEP_BYTES;
const MAX_BODY_BYTES = 40 * STEP_BYTES;

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('begin', 'begin', 'send', 'send', 'send', 'send', 'release', 'tick'),
  fc.nat(),
  fc.integer({ min: STEP_BYTES + 1, max: MAX_BODY_BYTES }),
  fc.boolean(),
);

function runStep([action, at, bytes, isChunked]: Step, budget: BodyBudget, uploads: Upload[]): void {
  const open = uploads.filter(({ isReleased }) => !isReleased);
  if (action === 'begin') {
    uploads.push(new Upload(budget, at % 3, bytes, isChunked ? MAX_BODY_BYTES : bytes));
  } else if (action === 'tick') budget.tick();
  else if (action === 'send') open[at % open.length]?.send(bytes);
  else open[at % open.length]?.release();
}

/** Checks the limits of the budget and of every owner. At most one body may exceed them. */
function expectBounds(uploads: readonly Upload[], limitBytes: number): void {
  const open = uploads.filter(({ isReleased }) => !isReleased);
  const exceeding = open.filter(({ held }) => held.overdraftBytes > 0);
  expect(exceeding.length).toBeLessThanOrEqual(1);
  const charged = (bodies: Upload[]) => sum(bodies.map(({ held }) => held.chargedBytes));
  expect(charged(open)).toBeLessThanOrEqual(limitBytes);
  for (const owner of [0, 1, 2]) {
    const own = open.filter((upload) => upload.owner === owner && upload.held.chargedBytes > 0);
    if (own.length > 1) {
      const largest = Math.max(...own.map(({ held }) => held.chargedBytes));
      expect(charged(own)).toBeLessThanOrEqual(Math.max(limitBytes / 2, largest));
    }
  }
  for (const { arrivedBytes, held, isPaused } of open) {
    expect(isPaused || arrivedBytes <= held.reservedBytes).toBe(true);
  }
}

/** Sends every body and releases complete ones, until nothing changes. */
function drain(uploads: readonly Upload[]): void {
  for (let left = -1; ;) {
    for (const upload of uploads) upload.send();
    const complete = uploads.find(({ isComplete, isReleased }) => isComplete && !isReleased);
    complete?.release();
    const open = uploads.filter(({ isReleased }) => !isReleased).length;
    if (open === 0 || open === left) return;
    left = open;
  }
}

it.each([
  ['with memory for several bodies', LIMIT_BYTES],
  ['with memory for one body per owner', MAX_BODY_BYTES],
  ['smaller than any body', 1],
])('a budget %s keeps its limits and lets every body complete', (_description, limitBytes) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const budget = budgetOf(limitBytes);
      const uploads: Upload[] = [];
      for (const each of steps) {
        runStep(each, budget, uploads);
        expectBounds(uploads, limitBytes);
      }
      drain(uploads);
      for (const { isReleased } of uploads) expect(isReleased).toBe(true);
      const next = [0, 1].map((owner) => new Upload(budget, owner, limitBytes / 2 + STEP_BYTES / 2));
      if (limitBytes > 1) expect(next[0]!.isPaused).toBe(false); // all memory is free again
    }),
    { numRuns: 500 },
  );
});

it('an owner gets its half at once, whatever another owner sends', () => {
  const upload = fc.record({
    bytes: fc.integer({ min: STEP_BYTES + 1, max: 32 * STEP_BYTES }),
    sent: fc.nat(40 * STEP_BYTES),
    ticks: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(upload, { minLength: 1, maxLength: 30 }), (uploads) => {
      const budget = budgetOf(LIMIT_BYTES);
      const greedy = uploads.map(({ bytes, sent, ticks }) => {
        const body = new Upload(budget, 1, bytes);
        body.send(sent);
        if (ticks) budget.tick();
        return body;
      });
      for (const body of greedy) body.send();
      const others = [new Upload(budget, 2, 16 * STEP_BYTES), new Upload(budget, 2, 16 * STEP_BYTES)];
      for (const body of others) body.send();
      expect(completeOf(others)).toBe(2);
    }),
    { numRuns: 500 },
  );
});

describe('concurrent bodies of one owner', () => {
  it('complete one after the other if there is no memory for all of them', () => {
    const budget = budgetOf(10 * MIB);
    const uploads = Array.from({ length: 6 }, () => new Upload(budget, 1, 2 * MIB));
    for (let round = 0; round < 32; round++) for (const upload of uploads) upload.send(STEP_BYTES);
    expect(completeOf(uploads)).toBe(2);
    uploads[0]!.release();
    for (const upload of uploads) upload.send();
    expect(completeOf(uploads)).toBe(3);
  });

  it('get the memory that was kept free for a stalled body', () => {
    const budget = budgetOf(20 * MIB);
    const stalled = new Upload(budget, 1, 10 * MIB);
    stalled.send(2 * MIB);
    const other = new Upload(budget, 1, 4 * MIB);
    other.send();
    expect(other.isComplete).toBe(false);
    budget.tick(); // includes the time before the stall
    budget.tick();
    other.send();
    expect(other.isComplete).toBe(true);
  });

  it('let the oldest body complete after it stalled and its memory was given away', () => {
    const budget = budgetOf(8 * MIB);
    const stalled = new Upload(budget, 1, 3 * MIB);
    stalled.send(MIB);
    budget.tick();
    budget.tick();
    const others = [1, 2, 3].map(() => new Upload(budget, 1, MIB + STEP_BYTES));
    for (const other of others) other.send();
    expect(reservedBy([stalled, ...others])).toBeLessThanOrEqual(4 * MIB);
    expect(completeOf(others)).toBe(2);
    stalled.send();
    expect(stalled.isComplete).toBe(true);
    const foreign = new Upload(budget, 2, 4 * MIB);
    foreign.send();
    expect(foreign.isComplete).toBe(true);
  });
});

it('only one body at a time exceeds the limits', () => {
  const budget = budgetOf(8 * MIB);
  const stalled = [1, 2].map((owner) => new Upload(budget, owner, 3 * MIB));
  for (const upload of stalled) upload.send(MIB);
  budget.tick();
  budget.tick();
  for (const owner of [1, 1, 2, 2]) new Upload(budget, owner, MIB + STEP_BYTES).send();
  for (const upload of stalled) upload.send();
  expect(stalled.map(({ isComplete }) => isComplete)).toEqual([true, false]);
  stalled[0]!.release();
  stalled[1]!.send();
  expect(stalled[1]!.isComplete).toBe(true);
});

it('free memory goes to the waiting owner that holds the least', () => {
  const budget = budgetOf(8 * MIB);
  const first = [1, 1, 2, 2].map((owner) => new Upload(budget, owner, 2 * MIB));
  for (const upload of first) upload.send();
  expect(completeOf(first)).toBe(4);
  const queued = [1, 1, 2, 3].map((owner) => new Upload(budget, owner, 2 * MIB));
  first[0]!.release();
  for (const upload of queued) upload.send();
  expect(queued.map(({ isComplete }) => isComplete)).toEqual([false, false, false, true]);
  first[2]!.release();
  for (const upload of queued) upload.send();
  expect(queued.map(({ isComplete }) => isComplete)).toEqual([true, false, false, true]);
});

it('a body that waits for memory does not count as slow', () => {
  const budget = budgetOf(4 * MIB);
  const [holder, waiting] = [new Upload(budget, 1, 2 * MIB), new Upload(budget, 1, 2 * MIB)];
  holder.send();
  for (let ticks = 0; ticks < 60; ticks++) budget.tick();
  expect(waiting).toMatchObject({ isPaused: true, isTooSlow: false });
  holder.release();
  waiting.send();
  expect(waiting.isComplete).toBe(true);
});
