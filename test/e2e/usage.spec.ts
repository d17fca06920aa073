import fc from 'fast-check';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { teamOwner } from '../support/owners.js';
import { recordAll, usageRecord } from '../support/usage.js';
import { calendar, measuresOf } from '../support/usage-oracle.js';
import type { Unit } from '../support/usage-oracle.js';

const NOTHING = measuresOf([]);

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('sums', () => {
  const FIRST = Date.parse('2026-01-30T20:00:00.000Z');
  const LAST = Date.parse('2026-03-02T03:00:00.000Z');
  const time = fc
    .oneof(
      fc.integer({ min: FIRST, max: LAST }),
      fc.integer({ min: FIRST / 3_600_000, max: LAST / 3_600_000 }).map((hour) => hour * 3_600_000), // on the edges
    )
    .map((ms) => new Date(ms).toISOString());
  const tokens = fc.option(fc.integer({ min: 0, max: 2_000_000 }));
  const milliseconds = fc.double({ min: 0.01, max: 900_000, noNaN: true });
  const anyRecord = fc.record({
    at: time,
    model: fc.option(fc.constantFrom('gpt-4o', 'claude', '=1+1')),
    provider: fc.option(fc.constantFrom('openai', 'anthropic')),
    upstream_id: fc.option(fc.constantFrom(1, 2)),
    key_id: fc.constantFrom(11, 12, 13),
    status: fc.constantFrom(200, 429, 502),
    outcome: fc.constantFrom('ok' as const, 'client_error' as const, 'upstream_error' as const),
    input_tokens: tokens,
    cached_input_tokens: tokens,
    output_tokens: tokens,
    total_tokens: tokens,
    latency_ms: milliseconds,
    ttft_ms: fc.option(milliseconds),
  });
  const anyQuery = fc.record({
    from: time,
    to: time,
    bucket: fc.constantFrom<Unit>('hour', 'day', 'month'),
    groupBy: fc.subarray(['model', 'provider', 'upstream', 'key', 'status'] as const),
    model: fc.option(fc.constantFrom('gpt-4o', 'claude')),
    status: fc.subarray([200, 429, 502]),
  });
  const MEMBERS = {
    model: 'model',
    provider: 'provider',
    upstream: 'upstream_id',
    key: 'key_id',
    status: 'status',
  };

  /** Groups by their members, in no order. */
  function groupsOf(records: readonly UsageRecord[], groupBy: readonly (keyof typeof MEMBERS)[]) {
    const groups = new Map<string, UsageRecord[]>();
    for (const record of records) {
      const id = JSON.stringify(groupBy.map((name) => record[MEMBERS[name] as keyof UsageRecord]));
      groups.set(id, [...(groups.get(id) ?? []), record]);
    }
    return new Map([...groups].map(([id, members]) => [id, measuresOf(members)]));
  }

  it('equal the added records, for any query of any records', async () => {
    const team = await teamOwner(app);
    const records = fc
      .sample(anyRecord, { numRuns: 3_000, seed: 1 })
      .map((fields) => usageRecord({ ...fields, organization_id: team.organizationId, user_id: team.user }));
    await recordAll(app, records);
    await fc.assert(
      fc.asyncProperty(anyQuery, async ({ bucket, groupBy, model, status, ...range }) => {
        const [from, to] = [range.from, range.to].sort() as [string, string];
        fc.pre(from !== to);
        const asked = records.filter(
          (record) =>
            record.at >= from &&
            record.at < to &&
            (model === null || record.model === model) &&
            (status.length === 0 || status.includes(record.status)),
        );
        const query = {
          from,
          to,
          bucket,
          group_by: groupBy.join(',') || undefined,
          model: model ?? undefined,
        };
        const { body } = await team.admin
          .get(`${team.base}/usage`)
          .query({ ...query, status })
          .expect(200);

        expect(body).toEqual({ from, to, bucket, totals: measuresOf(asked), buckets: expect.any(Array) });
        const buckets = body.buckets.map(({ groups: _, ...rest }: { groups: unknown }) => rest);
        const inBucket = (start: string, end: string) => asked.filter(({ at }) => at >= start && at < end);
        expect(buckets).toEqual(
          calendar(bucket, from, to).map(({ start, end }) => ({
            start,
            end,
            ...measuresOf(inBucket(start, end)),
          })),
        );
        for (const { start, end, groups } of body.buckets) {
          if (groupBy.length === 0) expect(groups).toEqual([]);
          else {
            const found = groups.map(({ requests, errors, ...group }: Record<string, unknown>) => {
              const names = Object.keys(NOTHING).slice(2);
              const measures = Object.fromEntries(names.map((name) => [name, group[name]]));
              return [
                JSON.stringify(groupBy.map((name) => group[MEMBERS[name]])),
                { requests, errors, ...measures },
              ];
            });
            expect(new Map(found)).toEqual(groupsOf(inBucket(start, end), groupBy));
          }
        }
      }),
      { numRuns: 60 },
    );
  }, 300_000);
});
