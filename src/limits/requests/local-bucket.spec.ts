import { applyLimits } from '../rules/applied-limits.js';
import { NO_LIMITS } from '../rules/limit-set.js';
import { LocalBucket } from './local-bucket.js';

const CAPACITY = 62; // refills by one token a second
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

function newBucket(): LocalBucket {
  const key = JSON.stringify({ ...NO_LIMITS, requests_per_minute: CAPACITY });
  const texts = { organization: null, member: null, key };
  return new LocalBucket(applyLimits({ id: 1, organizationId: 1, userId: 'ada' }, texts, 1)!.levels[0]!);
}

const row = (granted: number, tokens: number) => ({ scope: 'key 1', granted, tokens, taken_at: '' });

function useOwn(bucket: LocalBucket, uses: number, now: number): void {
  for (let i = 0; i < uses; i++) bucket.useOwn(now);
}

describe('the debt of a bucket', () => {
  it('is the number of tokens that were used without the database', () => {
    const bucket = newBucket();
    bucket.onTaken(row(2, 30), 0, 0);
    expect(bucket.debt(0)).toBe(0);
    useOwn(bucket, 12, 0);
    expect(bucket.debt(0)).toBe(10); // the database gave two before
  });

  it('is at most what the database has regained meanwhile', () => {
    const bucket = newBucket();
    bucket.onTaken(row(0, CAPACITY), 0, 0);
    for (let i = 0; i < 10 * CAPACITY; i++) if (bucket.hasOwnToken(i * 100)) bucket.useOwn(i * 100);
    expect(bucket.debt(CAPACITY * SECOND)).toBe(CAPACITY - 1); // the token of the last second is left
    expect(bucket.debt(CAPACITY * SECOND + 20 * SECOND)).toBe(CAPACITY - 21);
    expect(bucket.debt(CAPACITY * SECOND + 2 * MINUTE)).toBe(0);
  });

  it('is paid once, and again if the statement fails', () => {
    const bucket = newBucket();
    useOwn(bucket, 5, 0);
    expect([bucket.payDebt(0), bucket.payDebt(0)]).toEqual([5, 0]);
    bucket.onDebtUnpaid(5, 0);
    expect(bucket.debt(0)).toBe(5);
    bucket.payDebt(0);
    useOwn(bucket, 1, 0); // while the statement is under way
    bucket.onTaken(row(0, 40), 0, 0);
    expect([bucket.debt(0), bucket.remaining(0)]).toEqual([1, 39]);
  });
});
