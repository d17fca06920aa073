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

const advance = (ms: number) => jest.advanceTimersByTime(ms);

/** Records failures of the first upstream. */
function fail(times: number, everyMs = 0): void {
  for (let i = 0; i < times; i++) {
    if (i > 0) advance(everyMs);
    health.recordFailure(FIRST.id);
  }
}

describe('UpstreamHealth', () => {
  it.each([
    ['demotes', 'five times at once', 5, 0, LAST],
    ['does not demote', 'four times at once', 4, 0, POOL],
    ['demotes', 'five times within 30 s', 5, 7_500, LAST],
    ['does not demote', 'five times in more than 30 s', 5, 7_501, POOL],
    ['does not demote', 'twenty times, once every 7.5 s', 20, 7_501, POOL],
  ])('%s an upstream that fails %s', (_result, _failures, times, everyMs, order) => {
    fail(times, everyMs);
    expect(health.sort(POOL)).toEqual(order);
  });

  it('counts the last five failures only', () => {
    fail(1);
    advance(30_000);
    fail(4);
    expect(health.sort(POOL)).toEqual(LAST);
  });

  it('demotes an upstream that fails rarely at first and often later', () => {
    fail(4, 20_000);
    fail(5, 1_000);
    expect(health.sort(POOL)).toEqual(LAST);
  });

  it('demotes for 15 s', () => {
    fail(5);
    advance(14_999);
    expect(health.sort(POOL)).toEqual(LAST);
    advance(1);
    expect(health.sort(POOL)).toEqual(POOL);
  });

  it('requires five new failures after a demotion has ended', () => {
    fail(5);
    advance(15_000);
    fail(4);
    expect(health.sort(POOL)).toEqual(POOL);
    fail(1);
    expect(health.sort(POOL)).toEqual(LAST);
  });

  it('prolongs the demotion when five more failures follow', () => {
    fail(5);
    advance(10_000);
    fail(5);
    advance(14_999);
    expect(health.sort(POOL)).toEqual(LAST);
    advance(1);
    expect(health.sort(POOL)).toEqual(POOL);
  });

  it('ends the demotion on a success', () => {
    fail(5);
    health.recordSuccess(FIRST.id);
    expect(health.sort(POOL)).toEqual(POOL);
  });

  it('counts failures from zero after a success', () => {
    fail(4);
    health.recordSuccess(FIRST.id);
    fail(4);
    expect(health.sort(POOL)).toEqual(POOL);
  });

  it('counts each upstream separately', () => {
    fail(5);
    health.recordSuccess(SECOND.id);
    expect(health.sort(POOL)).toEqual(LAST);
    expect(health.sort([SECOND])).toEqual([SECOND]);
  });

  it('keeps all upstreams, and the order among demoted ones', () => {
    for (const { id } of POOL) for (let i = 0; i < 5; i++) health.recordFailure(id);
    expect(health.sort([...POOL, { id: 3 }])).toEqual([{ id: 3 }, ...POOL]);
  });
});
