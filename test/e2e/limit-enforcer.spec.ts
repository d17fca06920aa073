import { jest } from '@jest/globals';
import { UrgentQueries } from '../../src/database/connection/urgent-queries.js';
import { LimitEnforcer } from '../../src/limits/limit-enforcer.js';
import type { Verdict } from '../../src/limits/limit-enforcer.js';
import { applyLimits, nextLimitsVersion } from '../../src/limits/rules/applied-limits.js';
import type { AppliedLimits, Level } from '../../src/limits/rules/applied-limits.js';
import { NO_LIMITS } from '../../src/limits/rules/limit-set.js';
import type { LimitSet } from '../../src/limits/rules/limit-set.js';
import { RequestBuckets } from '../../src/limits/requests/request-buckets.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { inParallel } from '../support/parallel.js';

let app: TestApp;
let enforcer: LimitEnforcer;
let organizationId = 2_000_000;

beforeAll(async () => {
  app = await startApp();
  enforcer = app.app.get(LimitEnforcer, { strict: false });
});
afterAll(() => app.close());
beforeEach(() => organizationId++);

/** Limits of a key as they are read now. */
function read(sets: Partial<Record<Level, Partial<LimitSet>>>, id = organizationId): AppliedLimits {
  const textOf = (level: Level) => (sets[level] ? JSON.stringify({ ...NO_LIMITS, ...sets[level] }) : null);
  const texts = { organization: textOf('organization'), member: textOf('member'), key: textOf('key') };
  const key = { id, organizationId, userId: 'ada' };
  return applyLimits(key, texts, nextLimitsVersion())!;
}

/** Value of a header of a verdict. */
function headerOf({ headers }: Pick<Verdict, 'headers'>, name: string): string | undefined {
  return headers[headers.indexOf(name) + 1];
}

describe('a request that holds the limits of before a change', () => {
  const REQUESTS_LIMIT = 'x-ratelimit-limit-requests';

  it.each([
    [2, 100],
    [100, 2],
  ])('does not bring back the limit of requests %d, which is now %d', async (old, current) => {
    const [before, after] = [old, current].map((requests_per_minute) =>
      read({ organization: { requests_per_minute } }),
    ) as [AppliedLimits, AppliedLimits];
    await enforcer.admit(after);
    expect(headerOf(await enforcer.admit(before), REQUESTS_LIMIT)).toBe(String(current));
    enforcer.record(before, 1, 1);
    expect(headerOf(await enforcer.admit(after), REQUESTS_LIMIT)).toBe(String(current));
  });

  it('does not bring back the limits of tokens and the budget', async () => {
    const before = read({
      organization: { tokens_per_minute: 10, budget: { usd: 1, period: 'day' } },
    });
    const after = read({
      organization: { tokens_per_minute: 1_000, budget: { usd: 100, period: 'day' } },
    });
    await enforcer.admit(after);
    enforcer.record(before, 50, 5);
    for (const limits of [before, after]) expect((await enforcer.admit(limits)).exceeded).toBeUndefined();
  });
});

it('requests that wait while shares are exchanged are admitted below the limit', async () => {
  const limits = read({ key: { requests_per_minute: 20 } });
  const buckets = app.app.get(RequestBuckets, { strict: false });
  const bucket = buckets.get(limits.levels[0]!);
  await enforcer.admit(limits);
  while (bucket.hasToken(performance.now())) await enforcer.admit(limits);
  const exchange = buckets.exchange();
  const verdicts = await inParallel(6, () => Promise.resolve(enforcer.admit(limits)));
  await exchange;
  expect(verdicts.map(({ exceeded }) => exceeded)).toEqual(Array.from({ length: 6 }, () => undefined));
});

it('requests that need the same sums share one statement', async () => {
  const limits = read({ key: { tokens_per_minute: 1_000 } });
  const { name } = limits.levels[0]!;
  const rows = jest.spyOn(app.app.get(UrgentQueries, { strict: false }), 'rows');
  await inParallel(50, () => Promise.resolve(enforcer.admit(limits)));
  const reads = rows.mock.calls.filter(([, values]) => JSON.stringify(values).includes(name));
  rows.mockRestore();
  expect(reads).toHaveLength(1);
});

describe('several levels that reject a request', () => {
  it('wait for the last of their budgets', async () => {
    const day = { budget: { usd: 1, period: 'day' as const } };
    const total = { budget: { usd: 1, period: 'total' as const } };
    for (const [organization, key, level] of [
      [day, total, 'key'],
      [total, day, 'organization'],
    ] as const) {
      organizationId++;
      const limits = read({ organization, key });
      await enforcer.admit(limits);
      enforcer.record(limits, 0, 5);
      const { exceeded } = await enforcer.admit(limits);
      expect(exceeded).toEqual({ limit: 'budget', level, retryAfterSeconds: null });
    }
  });

  it('wait for the last of their requests', async () => {
    const organization = { requests_per_minute: 6 };
    const limits = read({ organization, key: { requests_per_minute: 2 } });
    const others = read({ organization }, organizationId + 1_000_000);
    for (const each of [limits, limits, others, others, others, others])
      expect((await enforcer.admit(each)).exceeded).toBeUndefined();
    const { exceeded } = await enforcer.admit(limits);
    expect(exceeded).toMatchObject({ limit: 'requests', level: 'key' });
    expect(exceeded!.retryAfterSeconds).toBeGreaterThan(62 / 6);
  });
});
