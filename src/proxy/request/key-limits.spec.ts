import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Settings } from '../../config/settings.js';
import { KeyLimits } from './key-limits.js';

const ANNA = 1;
const BOB = 2;

const createLimits = (settings: Partial<Settings>) =>
  new KeyLimits({ proxyStreamsPerKey: 0, proxyRequestsPerMinute: 0, ...settings } as Settings);
const response = () => new EventEmitter() as ServerResponse;

describe('KeyLimits.takeRequestToken', () => {
  /** Number of tokens that `count` simultaneous requests get. */
  const takeTokens = (limits: KeyLimits, count: number, now: number, key = ANNA) =>
    Array.from({ length: count }, () => limits.takeRequestToken(key, now)).filter((wait) => wait === 0)
      .length;

  it('grants the whole limit at once, at any time', () => {
    for (const now of [0, 0.1, 59_999.9, 1e12 / 3])
      expect(takeTokens(createLimits({ proxyRequestsPerMinute: 7 }), 100, now)).toBe(7);
  });

  it('refills the bucket evenly', () => {
    const limits = createLimits({ proxyRequestsPerMinute: 60 });
    expect(takeTokens(limits, 100, 0)).toBe(60);
    expect(takeTokens(limits, 100, 999)).toBe(0);
    expect(takeTokens(limits, 100, 1_000)).toBe(1);
    expect(takeTokens(limits, 100, 31_000)).toBe(30);
  });

  it.each([1, 7, 60, 999])('grants at most eleven times the limit of %d within ten minutes', (limit) => {
    const limits = createLimits({ proxyRequestsPerMinute: limit });
    let count = 0;
    for (let now = 0; now < 600_000; now += 777) count += takeTokens(limits, limit, now);
    expect(count).toBeLessThanOrEqual(limit * 11);
    expect(count).toBeGreaterThanOrEqual(Math.floor(limit * 10.9));
  });

  it.each([
    [1, 60],
    [7, 9],
    [60, 1],
    [100_000, 1],
  ])('grants the next token of a limit of %d after the returned %d s', (limit, seconds) => {
    const limits = createLimits({ proxyRequestsPerMinute: limit });
    takeTokens(limits, limit, 5_000);
    expect(limits.takeRequestToken(ANNA, 5_000)).toBe(seconds);
    expect(limits.takeRequestToken(ANNA, 5_000 + seconds * 1_000)).toBe(0);
  });

  it('takes no token for a rejected request', () => {
    const limits = createLimits({ proxyRequestsPerMinute: 1 });
    limits.takeRequestToken(ANNA, 0);
    for (let now = 0; now < 60_000; now += 100) expect(limits.takeRequestToken(ANNA, now)).toBeGreaterThan(0);
    expect(limits.takeRequestToken(ANNA, 60_000)).toBe(0);
  });

  it('counts each key separately', () => {
    const limits = createLimits({ proxyRequestsPerMinute: 2 });
    expect([takeTokens(limits, 9, 0, ANNA), takeTokens(limits, 9, 0, BOB)]).toEqual([2, 2]);
  });

  it('keeps the bucket of a key that is used when buckets are rotated', () => {
    const limits = createLimits({ proxyRequestsPerMinute: 1 });
    let count = 0;
    for (let now = 0; now < 600_000; now += 500) count += takeTokens(limits, 1, now);
    expect(count).toBe(10);
  });

  it('grants any number of tokens if the limit is 0', () => {
    expect(takeTokens(createLimits({}), 10_000, 0)).toBe(10_000);
  });
});

describe('KeyLimits.tryOpenStream', () => {
  it('counts the streams of each key until their responses close', () => {
    const limits = createLimits({ proxyStreamsPerKey: 2 });
    const [first, second] = [response(), response()];
    expect([limits.tryOpenStream(ANNA, first), limits.tryOpenStream(ANNA, second)]).toEqual([true, true]);
    expect([limits.tryOpenStream(ANNA, response()), limits.tryOpenStream(BOB, response())]).toEqual([
      false,
      true,
    ]);
    first.emit('close');
    expect([limits.tryOpenStream(ANNA, response()), limits.tryOpenStream(ANNA, response())]).toEqual([
      true,
      false,
    ]);
    second.emit('close');
    expect(limits.tryOpenStream(ANNA, response())).toBe(true);
  });

  it('frees nothing when the response of a rejected stream closes', () => {
    const limits = createLimits({ proxyStreamsPerKey: 1 });
    limits.tryOpenStream(ANNA, response());
    const rejected = response();
    limits.tryOpenStream(ANNA, rejected);
    rejected.emit('close');
    expect(limits.tryOpenStream(ANNA, response())).toBe(false);
  });

  it('allows any number of streams if the limit is 0', () => {
    const limits = createLimits({});
    expect(Array.from({ length: 1_000 }, () => limits.tryOpenStream(ANNA, response()))).not.toContain(false);
  });
});
