import { jest } from '@jest/globals';
import { UpstreamHealth } from './upstream-health.js';

const [FIRST, SECOND] = [{ id: 1 }, { id: 2 }];
const POOL = [FIRST, SECOND];
const LAST = [SECOND, FIRST];

let health: UpstreamHealth;

beforeEach(() => {
  jest.useFakeTimers();
  health = new UpstreamHealth();
});
afterEach(() => jest.useRealTimers());

const letPass = (ms: number) => jest.advanceTimersByTime(ms);

/** The first upstream fails, again and again. */
function fail(times: number, everyMs = 0): void {
  for (let i = 0; i < times; i++) {
    if (i > 0) letPass(everyMs);
    health.failed(FIRST.id);
  }
}

describe('an upstream', () => {
  it.each([
    ['five times at once', 5, 0, LAST],
    ['four times at once', 4, 0, POOL],
    ['five times within 30 s', 5, 7_500, LAST],
    ['five times in more than 30 s', 5, 7_501, POOL],
    ['again and again, but slowly', 20, 7_501, POOL],
  ])('that fails %s has its place in the order', (_how, times, everyMs, order) => {
    fail(times, everyMs);
    expect(health.order(POOL)).toEqual(order);
  });

  it('is judged by its last five failures', () => {
    fail(1);
    letPass(30_000);
    fail(4);
    expect(health.order(POOL)).toEqual(LAST);
  });

  it('that fails slowly at first, then fast, is tried last', () => {
    fail(4, 20_000);
    fail(5, 1_000);
    expect(health.order(POOL)).toEqual(LAST);
  });

  it('is tried last for 15 s, and in its turn then', () => {
    fail(5);
    letPass(14_999);
    expect(health.order(POOL)).toEqual(LAST);
    letPass(1);
    expect(health.order(POOL)).toEqual(POOL);
  });

  it('needs five failures again, after its time', () => {
    fail(5);
    letPass(15_000);
    fail(4);
    expect(health.order(POOL)).toEqual(POOL);
    fail(1);
    expect(health.order(POOL)).toEqual(LAST);
  });

  it('that fails five times more, meanwhile, is tried last for 15 s from then', () => {
    fail(5);
    letPass(10_000);
    fail(5);
    letPass(14_999);
    expect(health.order(POOL)).toEqual(LAST);
    letPass(1);
    expect(health.order(POOL)).toEqual(POOL);
  });

  it('that succeeds is tried in its turn at once', () => {
    fail(5);
    health.succeeded(FIRST.id);
    expect(health.order(POOL)).toEqual(POOL);
  });

  it('that succeeds in between has no failures in a row', () => {
    fail(4);
    health.succeeded(FIRST.id);
    fail(4);
    expect(health.order(POOL)).toEqual(POOL);
  });
});

it('does not hold failures of one against another', () => {
  fail(5);
  health.succeeded(SECOND.id);
  expect(health.order(POOL)).toEqual(LAST);
  expect(health.order([SECOND])).toEqual([SECOND]);
});

it('leaves none out, and keeps the order of those that fail', () => {
  for (const { id } of POOL) for (let i = 0; i < 5; i++) health.failed(id);
  expect(health.order([...POOL, { id: 3 }])).toEqual([{ id: 3 }, ...POOL]);
});
