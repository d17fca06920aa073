import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { recordAll, usageRecord } from '../support/usage.js';

let app: TestApp;

beforeEach(async () => {
  app = await startApp();
});
afterEach(async () => {
  await app.database.admit();
  await app.close();
});

it('a record is in the database as it was given', async () => {
  const given = usageRecord({
    model: 'ünïcode "quoted"\n',
    ttft_ms: null,
    input_tokens: null,
    latency_ms: 1.25,
  });
  await recordAll(app, [given]);
  const [row] = await app.database.query('SELECT * FROM usage_records');
  expect(row).toEqual(given);
});
