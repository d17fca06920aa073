import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { parseSettings } from '../../dist/config/parse-settings.js';
import { setupApp } from '../../dist/setup-app.js';
import { UsageRecorder } from '../../dist/usage/write/usage-recorder.js';

/**
 * Replica that records what requests use, as fast as it can. It writes the id of each record to standard output
 * when the response may be sent. On SIGTERM, or after `MAX_RECORDS`, it stops to record; on SIGTERM it ends as the
 * service does.
 */
const RECORDS_A_TURN = 5;
const MAX_RECORDS = Number(process.env.MAX_RECORDS ?? Infinity);
const settings = parseSettings(process.env);
const app = await setupApp(settings, settings.databaseUrl);
const recorder = app.get(UsageRecorder, { strict: false });

function record() {
  const id = randomUUID();
  const request = { method: 'POST', path: '/v1/chat/completions', model: 'gpt-4o', stream: false };
  const upstream = { upstream_id: 1, upstream_name: 'main', provider: 'openai' };
  const owner = { organization_id: 1, user_id: 'ann', key_id: 1 };
  const tokens = { input_tokens: 1, cached_input_tokens: null, output_tokens: 2, total_tokens: 3 };
  recorder.record(
    {
      ...{ id, request_id: id, at: new Date().toISOString(), ...owner, ...upstream, ...request },
      ...{ status: 200, outcome: 'ok', ...tokens, usage_source: 'provider', latency_ms: 5, ttft_ms: 4 },
      ...{ attempts: [], cache_write_tokens: null, reasoning_tokens: null, upstream_model: null },
      ...{ cost_usd: 0.25, price_source: 'own' },
    },
    () => writeSync(1, `${id}\n`),
  );
}

let stopped = false;
let count = 0;
function turn() {
  for (let i = 0; i < RECORDS_A_TURN; i++) record();
  count += RECORDS_A_TURN;
  if (!stopped && count < MAX_RECORDS) setTimeout(turn, 1);
}
turn();

process.on('SIGTERM', async () => {
  stopped = true;
  await app.close();
  process.exit(0);
});
