import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Settings } from '../config/settings.js';
import { KeyLimits } from './key-limits.js';

const ANNA = 1;
const BOB = 2;

const limits = (of: Partial<Settings>) =>
  new KeyLimits({ proxyStreamsPerKey: 0, proxyRequestsPerMinute: 0, ...of } as Settings);
const response = () => new EventEmitter() as ServerResponse;

describe('requests a minute', () => {
  /** How many of so many requests at one moment there was room for. */
  const admitted = (of: KeyLimits, count: number, now: number, key = ANNA) =>
    Array.from({ length: count }, () => of.secondsToWait(key, now)).filter((wait) => wait === 0).length;

  it('may all be made at once, from whatever moment on', () => {
    for (const now of [0, 0.1, 59_999.9, 1e12 / 3])
      expect(admitted(limits({ proxyRequestsPerMinute: 7 }), 100, now)).toBe(7);
  });

  it('come back evenly', () => {
    const of = limits({ proxyRequestsPerMinute: 60 });
    expect(admitted(of, 100, 0)).toBe(60);
    expect(admitted(of, 100, 999)).toBe(0);
    expect(admitted(of, 100, 1_000)).toBe(1);
    expect(admitted(of, 100, 31_000)).toBe(30);
  });

  it.each([1, 7, 60, 999])(
    'of %d are never more in ten minutes than ten times that, and one allowance',
    (limit) => {
      const of = limits({ proxyRequestsPerMinute: limit });
      let count = 0;
      for (let now = 0; now < 600_000; now += 777) count += admitted(of, limit, now);
      expect(count).toBeLessThanOrEqual(limit * 11);
      expect(count).toBeGreaterThanOrEqual(Math.floor(limit * 10.9));
    },
  );

  it.each([
    [1, 60],
    [7, 9],
    [60, 1],
    [100_000, 1],
  ])('of %d: the next one goes through after the %d s that are told', (limit, seconds) => {
    const of = limits({ proxyRequestsPerMinute: limit });
    admitted(of, limit, 5_000);
    expect(of.secondsToWait(ANNA, 5_000)).toBe(seconds);
    expect(of.secondsToWait(ANNA, 5_000 + seconds * 1_000)).toBe(0);
  });

  it('are not used up by those that are refused', () => {
    const of = limits({ proxyRequestsPerMinute: 1 });
    of.secondsToWait(ANNA, 0);
    for (let now = 0; now < 60_000; now += 100) expect(of.secondsToWait(ANNA, now)).toBeGreaterThan(0);
    expect(of.secondsToWait(ANNA, 60_000)).toBe(0);
  });

  it('are counted for each key', () => {
    const of = limits({ proxyRequestsPerMinute: 2 });
    expect([admitted(of, 9, 0, ANNA), admitted(of, 9, 0, BOB)]).toEqual([2, 2]);
  });

  it('are not forgotten while the keys that were used are', () => {
    const of = limits({ proxyRequestsPerMinute: 1 });
    let count = 0;
    for (let now = 0; now < 600_000; now += 500) count += admitted(of, 1, now);
    expect(count).toBe(10);
  });

  it('are without end when there is no limit', () => {
    expect(admitted(limits({}), 10_000, 0)).toBe(10_000);
  });
});

describe('streams', () => {
  it('are counted for each key until they are closed', () => {
    const of = limits({ proxyStreamsPerKey: 2 });
    const [first, second] = [response(), response()];
    expect([of.admitsStream(ANNA, first), of.admitsStream(ANNA, second)]).toEqual([true, true]);
    expect([of.admitsStream(ANNA, response()), of.admitsStream(BOB, response())]).toEqual([false, true]);
    first.emit('close');
    expect([of.admitsStream(ANNA, response()), of.admitsStream(ANNA, response())]).toEqual([true, false]);
    second.emit('close');
    expect(of.admitsStream(ANNA, response())).toBe(true);
  });

  it('that were refused free nothing when they are closed', () => {
    const of = limits({ proxyStreamsPerKey: 1 });
    of.admitsStream(ANNA, response());
    const refused = response();
    of.admitsStream(ANNA, refused);
    refused.emit('close');
    expect(of.admitsStream(ANNA, response())).toBe(false);
  });

  it('are without end when there is no limit', () => {
    const of = limits({});
    expect(Array.from({ length: 1_000 }, () => of.admitsStream(ANNA, response()))).not.toContain(false);
  });
});
