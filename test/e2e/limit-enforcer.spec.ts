import { LimitEnforcer } from '../../src/limits/limit-enforcer.js';
import type { Verdict } from '../../src/limits/limit-enforcer.js';
import { applyLimits, nextLimitsVersion } from '../../src/limits/rules/applied-limits.js';
import type { AppliedLimits, Level } from '../../src/limits/rules/applied-limits.js';
import { NO_LIMITS } from '../../src/limits/rules/limit-set.js';
import type { LimitSet } from '../../src/limits/rules/limit-set.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';

let app: TestApp;
let enforcer: LimitEnforcer;
let organizationId = 2_000_000;

beforeAll(async () => {
  app = await startApp();
  enforcer = app.app.get(LimitEnforcer, { strict: false });
});
afterAll(() => app.close());
beforeEach(() => organizationId++);

/** Limits of the same key as they are read now. */
function read(sets: Partial<Record<Level, Partial<LimitSet>>>): AppliedLimits {
  const textOf = (level: Level) => (sets[level] ? JSON.stringify({ ...NO_LIMITS, ...sets[level] }) : null);
  const texts = { organization: textOf('organization'), member: textOf('member'), key: textOf('key') };
  const key = { id: organizationId, organizationId, userId: 'ada' };
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
