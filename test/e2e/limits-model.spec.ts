import fc from 'fast-check';
import { WrittenUsage } from '../../src/limits/consumption/written-usage.js';
import { LimitEnforcer } from '../../src/limits/limit-enforcer.js';
import { applyLimits, nextLimitsVersion } from '../../src/limits/rules/applied-limits.js';
import type { Level, LimitedKey, LimitTexts } from '../../src/limits/rules/applied-limits.js';
import type { LimitSet } from '../../src/limits/rules/limit-set.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { withinWindow } from '../support/within-window.js';

/** A share of requests that is not used in time is lost until it is refilled, and a refill takes seconds. */
const SHARE_MS = 1_000;

let app: TestApp;
let enforcer: LimitEnforcer;
let worlds = 1_000_000;

beforeAll(async () => {
  app = await startApp();
  enforcer = app.app.get(LimitEnforcer, { strict: false });
  // No usage is recorded here, so the enforcer must not expect its own figures in the database.
  const written = app.app.get(WrittenUsage, { strict: false });
  Object.defineProperty(written, 'until', { get: () => -Infinity, set: () => undefined });
});
afterAll(() => app.close());

const limits = fc.record({
  requests_per_minute: fc.option(fc.integer({ min: 1, max: 15 }), { freq: 2 }),
  tokens_per_minute: fc.option(fc.integer({ min: 1, max: 300 }), { freq: 2 }),
  budget: fc.option(
    fc.record({
      usd: fc.integer({ min: 1, max: 60 }).map((units) => units / 4),
      period: fc.constantFrom('day', 'week', 'month', 'total'),
    }),
    { freq: 2 },
  ),
  models: fc.constant(null),
});
const request = fc.record({
  key: fc.nat(3),
  tokens: fc.nat(40),
  usd: fc.nat(8).map((units) => units / 4),
});
const world = fc.record({
  organization: fc.option(limits),
  member: fc.option(limits),
  keys: fc.array(fc.option(limits), { minLength: 4, maxLength: 4 }),
  requests: fc.array(request, { minLength: 50, maxLength: 50 }),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

/** Counts of one scope, as the contract defines them. Too few seconds pass for a refill or the end of a minute. */
interface Counts {
  requests: number;
  tokens: number;
  usd: number;
}

interface Limited {
  readonly level: Level;
  readonly set: LimitSet;
  readonly count: Counts;
}

/** Whether a budget ends before another. Only that of all time is certain to end last, whatever day it is. */
function endsBefore({ set: first }: Limited, { set: second }: Limited): boolean {
  return first.budget!.period !== 'total' && second.budget!.period === 'total';
}

/** Decides the budget first, then the requests, then the tokens. @returns the levels that may reject the request */
function decide(levels: readonly Limited[]) {
  const hit = (limit: string, isHit: (of: Limited) => boolean) => {
    const found = levels.filter(isHit);
    const last =
      limit === 'budget' ? found.filter((one) => !found.some((other) => endsBefore(one, other))) : found;
    return last.length > 0 ? { limit, levels: last.map(({ level }) => level) } : undefined;
  };
  return (
    hit('budget', ({ set, count }) => count.usd >= (set.budget?.usd ?? Infinity)) ??
    hit('requests', ({ set, count }) => count.requests >= (set.requests_per_minute ?? Infinity)) ??
    hit('tokens', ({ set, count }) => count.tokens >= (set.tokens_per_minute ?? Infinity))
  );
}

it('10,000 requests with random limits are decided as a simple model decides', async () => {
  const sameDecisions = fc.asyncProperty(world, (random) =>
    withinWindow(SHARE_MS, () => expectSameDecisions(random)),
  );
  await fc.assert(sameDecisions, { numRuns: 200 });
});

async function expectSameDecisions({ organization, member, keys, requests }: World): Promise<void> {
  const organizationId = ++worlds;
  const counts = new Map<string, Counts>();
  const countOf = (name: string) => {
    const count = counts.get(name) ?? { requests: 0, tokens: 0, usd: 0 };
    counts.set(name, count);
    return count;
  };
  for (const { key, tokens, usd } of requests) {
    const user = `user-${key % 2}`;
    const sets = { organization, member, key: keys[key] ?? null } as Record<Level, LimitSet | null>;
    const names: Record<Level, string> = { organization: 'o', member: user, key: `k${key}` };
    const levels = (['organization', 'member', 'key'] as const).flatMap((level) => {
      const set = sets[level];
      return set ? [{ level, set, count: countOf(names[level]) }] : [];
    });
    const expected = decide(levels);
    const limitedKey = { id: organizationId * 10 + key, organizationId, userId: user };
    const verdict = await admit(limitedKey, sets, tokens, usd);
    expect(verdict?.limit).toBe(expected?.limit);
    if (expected) expect(expected.levels).toContain(verdict?.level);
    for (const { count } of expected ? [] : levels) {
      count.requests++;
      count.tokens += tokens;
      count.usd += usd;
    }
  }
}

/** Admits a request, and counts its use. @returns the limit that was hit */
async function admit(key: LimitedKey, sets: Record<Level, LimitSet | null>, tokens: number, usd: number) {
  const texts = Object.entries(sets).map(([level, set]) => [level, set && JSON.stringify(set)]);
  const limits = applyLimits(key, Object.fromEntries(texts) as LimitTexts, nextLimitsVersion());
  const { exceeded } = limits ? await enforcer.admit(limits) : {};
  if (exceeded) return { limit: exceeded.limit, level: exceeded.level };
  if (limits) enforcer.record(limits, tokens, usd);
  return undefined;
}
