import { randomUUID } from 'node:crypto';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { UsageRecorder } from '../../src/usage/write/usage-recorder.js';
import type { TestApp } from './app.js';
import type { TestDatabase } from './database.js';
import { eventually } from './eventually.js';

/** Creates a record of a successful request with the given fields. */
export function usageRecord(fields: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: randomUUID(),
    request_id: randomUUID(),
    at: new Date().toISOString(),
    organization_id: 1,
    user_id: 'ann',
    key_id: 1,
    upstream_id: 1,
    upstream_name: 'main',
    provider: 'openai',
    method: 'POST',
    path: '/v1/chat/completions',
    model: 'gpt-4o',
    stream: false,
    status: 200,
    outcome: 'ok',
    input_tokens: 10,
    cached_input_tokens: 0,
    output_tokens: 5,
    total_tokens: 15,
    usage_source: 'provider',
    latency_ms: 100,
    ttft_ms: 50,
    attempts: [{ upstream_id: 1, upstream_name: 'main', status: 200, error: null, ms: 99 }],
    cache_write_tokens: null,
    reasoning_tokens: null,
    upstream_model: null,
    cost_usd: 0.0001,
    price_source: 'list',
    ...fields,
  };
}

/** Passes records to the service as the proxy does. Resolves when the journal has all of them. */
export function record({ app }: TestApp, records: readonly UsageRecord[]): Promise<void[]> {
  const recorder = app.get(UsageRecorder, { strict: false });
  return Promise.all(records.map((each) => new Promise<void>((resolve) => recorder.record(each, resolve))));
}

/** Resolves when the database has this many records. */
export async function written({ query }: TestDatabase, count: number, timeoutMs?: number): Promise<void> {
  await eventually(async () => {
    const [row] = await query<{ count: number }>('SELECT count(*)::int AS count FROM usage_records');
    expect(row!.count).toBe(count);
  }, timeoutMs);
  await turnOfTheLoop();
}

/** Calls {@link record} and waits until the database has the records. */
export async function recordAll(app: TestApp, records: readonly UsageRecord[]): Promise<void> {
  await record(app, records);
  const ids = records.map(({ id }) => id);
  await eventually(async () => {
    const rows = await app.database.query('SELECT id FROM usage_records WHERE id = ANY ($1::uuid[])', [ids]);
    expect(rows).toHaveLength(new Set(ids).size);
  });
  await turnOfTheLoop();
}
