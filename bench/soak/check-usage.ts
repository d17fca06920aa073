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

/** Maximum time until all records of the journals are in PostgreSQL, counted from the last disturbance. */
const WRITTEN_WITHIN_MS = 60_000;

const RECORDS = `SELECT request_id, organization_id::int, outcome, input_tokens::int, output_tokens::int
  FROM usage_records`;

const KEY =
  'organization_id, user_id, key_id, upstream_id, upstream_name, provider, model, status, granularity, start';

/** Differences between the roll-ups computed from the records and the stored ones. */
const DIFFERENT_ROLLUPS = `
  WITH computed AS (
    SELECT ${KEY}, count(*)::bigint AS requests, (count(*) FILTER (WHERE outcome <> 'ok'))::bigint AS errors,
      sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens
    FROM usage_records CROSS JOIN LATERAL
      (SELECT granularity, date_trunc(granularity, at, 'UTC') AS start FROM unnest(ARRAY['hour', 'day', 'month']) AS granularity) AS g
    GROUP BY ${KEY}
  ), stored AS (
    SELECT ${KEY}, requests, errors, input_tokens, output_tokens FROM usage_rollups
  )
  (TABLE computed EXCEPT TABLE stored) UNION ALL (TABLE stored EXCEPT TABLE computed)`;

/** Checks that there is one record per response, none for rejected or unknown requests, and that roll-ups match. */
export async function checkUsage(ledger: Ledger, book: UsageBook, query: Query): Promise<number> {
  await untilWritten(book, query);
  const rows = await query<Row>(RECORDS);
  const byRequest = groupBy(rows, ({ request_id }) => request_id);
  for (const [id, found] of byRequest) {
    ledger.check('every record belongs to a request', book.requests.has(id), JSON.stringify(found));
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
  const isRight = records === 'either' ? found.length <= 1 : found.length === (records === 'one' ? 1 : 0);
  ledger.check(
    'every response has one record',
    isRight,
    `${id}: expected ${records}, found ${JSON.stringify(found)}`,
  );
  for (const row of found) {
    const isOwn = row.organization_id === organizationId;
    ledger.check('records belong to the owner of the key', isOwn, `${id}: ${JSON.stringify(row)}`);
    const { input_tokens, output_tokens } = row;
    const { prompt_tokens, completion_tokens } = PROVIDER_USAGE;
    const isCounted = input_tokens === prompt_tokens && output_tokens === completion_tokens;
    if (records === 'one') ledger.check('tokens are counted', isCounted, `${id}: ${JSON.stringify(row)}`);
  }
}

/** Checks that an approved login created at most one key. */
export async function checkDeviceKeys(ledger: Ledger, query: Query): Promise<void> {
  const duplicates =
    await query(`SELECT device->>'name' AS name, count(*) FROM proxy_keys WHERE source = 'device'
    GROUP BY 1 HAVING count(*) > 1`);
  ledger.check('no login created two keys', duplicates.length === 0, JSON.stringify(duplicates));
}
