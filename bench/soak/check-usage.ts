import { setTimeout as pause } from 'node:timers/promises';
import type { Query } from './database.js';
import { groupBy } from './group.js';
import type { Ledger } from './ledger.js';
import { PROVIDER_USAGE } from './provider.js';
import type { Expected, UsageBook } from './usage-book.js';

interface Row {
  readonly request_id: string;
  readonly organization_id: number;
  readonly outcome: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}

/** Records wait in the journals for as long as this at most, once everything is well. */
const WRITTEN_WITHIN_MS = 60_000;

const RECORDS = `SELECT request_id, organization_id::int, outcome, input_tokens::int, output_tokens::int
  FROM usage_records`;

const KEY =
  'organization_id, user_id, key_id, upstream_id, upstream_name, provider, model, status, granularity, start';

/** The roll-ups that the records make, and those that are there: what is in one of them only, and not in both. */
const DIFFERENT_ROLLUPS = `
  WITH made AS (
    SELECT ${KEY}, count(*)::bigint AS requests, (count(*) FILTER (WHERE outcome <> 'ok'))::bigint AS errors,
      sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens
    FROM usage_records CROSS JOIN LATERAL
      (SELECT granularity, date_trunc(granularity, at, 'UTC') AS start FROM unnest(ARRAY['hour', 'day', 'month']) AS granularity) AS g
    GROUP BY ${KEY}
  ), kept AS (
    SELECT ${KEY}, requests, errors, input_tokens, output_tokens FROM usage_rollups
  )
  (TABLE made EXCEPT TABLE kept) UNION ALL (TABLE kept EXCEPT TABLE made)`;

/** One record for each answer, none for what was refused or never sent, and roll-ups that agree. */
export async function checkUsage(ledger: Ledger, book: UsageBook, query: Query): Promise<number> {
  await untilWritten(book, query);
  const rows = await query<Row>(RECORDS);
  const byRequest = groupBy(rows, ({ request_id }) => request_id);
  for (const [id, found] of byRequest) {
    ledger.check('every record is of a request that was sent', book.requests.has(id), JSON.stringify(found));
  }
  for (const [id, expected] of book.requests) checkRecords(ledger, id, expected, byRequest.get(id) ?? []);
  const different = await query(DIFFERENT_ROLLUPS);
  const detail = JSON.stringify(different.slice(0, 4));
  ledger.check('roll-ups are the sums of the records', different.length === 0, detail);
  return rows.length;
}

async function untilWritten(book: UsageBook, query: Query): Promise<void> {
  const deadline = performance.now() + WRITTEN_WITHIN_MS;
  for (let before = -1; performance.now() < deadline; await pause(2_000)) {
    const [row] = await query<{ count: number }>('SELECT count(*)::int FROM usage_records');
    if (row!.count >= book.certain && row!.count === before) return;
    before = row!.count;
  }
}

function checkRecords(ledger: Ledger, id: string, expected: Expected, found: readonly Row[]): void {
  const { records, organizationId } = expected;
  const fits = records === 'either' ? found.length <= 1 : found.length === (records === 'one' ? 1 : 0);
  ledger.check('one record for each answer', fits, `${id}: ${records}, but ${JSON.stringify(found)}`);
  for (const row of found) {
    const isOwn = row.organization_id === organizationId;
    ledger.check('records are of their owner', isOwn, `${id}: ${JSON.stringify(row)}`);
    const { input_tokens, output_tokens } = row;
    const { prompt_tokens, completion_tokens } = PROVIDER_USAGE;
    const isCounted = input_tokens === prompt_tokens && output_tokens === completion_tokens;
    if (records === 'one') ledger.check('tokens are counted', isCounted, `${id}: ${JSON.stringify(row)}`);
  }
}

/** A login that was approved once has made one key at most, whatever broke. */
export async function checkDeviceKeys(ledger: Ledger, query: Query): Promise<void> {
  const doubled =
    await query(`SELECT device->>'name' AS name, count(*) FROM proxy_keys WHERE source = 'device'
    GROUP BY 1 HAVING count(*) > 1`);
  ledger.check('no login has made two keys', doubled.length === 0, JSON.stringify(doubled));
}
