import { randomUUID } from 'node:crypto';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import type { TestApp } from './app.js';
import { eventually } from './eventually.js';
import type { TestOwner } from './owners.js';
import { call } from './proxy-client.js';
import type { Call, Reply } from './proxy-client.js';

/** Waits for the usage record of a request and returns it as its owner sees it. */
export function recordOf({ admin }: TestOwner, requestId: string): Promise<UsageRecord> {
  return eventually(async () => {
    const { body } = await admin.get('/me/usage/requests?limit=50').expect(200);
    const records = (body.requests as UsageRecord[]).filter(({ request_id }) => request_id === requestId);
    expect(records).toHaveLength(1);
    return records[0]!;
  });
}

/** Calls the proxy, and waits for what is recorded of it. */
export async function callRecorded(
  app: Pick<TestApp, 'url'>,
  owner: TestOwner,
  key: string,
  options: Call = {},
): Promise<{ readonly reply: Reply; readonly record: UsageRecord }> {
  const id = randomUUID();
  const reply = await call(app, key, { ...options, headers: { ...options.headers, 'x-request-id': id } });
  return { reply, record: await recordOf(owner, id) };
}
