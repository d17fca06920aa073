import {
  EMAIL,
  ID,
  instanceOf,
  listOf,
  maybe,
  oneOf,
  orNull,
  Shown,
  SUM,
  text,
  TIME,
  USER_ID,
} from '../../common/members.js';
import { BUCKETS } from '../usage-query.js';
import type { Bucket } from '../usage-query.js';
import type { SummaryRow } from '../usage-summary-statement.js';

/** What keys and people are called, by their ids. */
export interface GroupNames {
  readonly keys: ReadonlyMap<number, string>;
  readonly users: ReadonlyMap<string, string>;
}

type Sums = Omit<SummaryRow, 'level' | 'bucket'>;

const UNKNOWN = {
  ...{ input_tokens: null, cached_input_tokens: null, output_tokens: null, total_tokens: null },
  ...{ latency_avg: null, latency_p50: null, latency_p95: null },
  ...{ ttft_avg: null, ttft_p50: null, ttft_p95: null },
};
const NOTHING: Sums = { requests: 0, errors: 0, ...UNKNOWN };

const MILLISECONDS = orNull({ type: 'number', minimum: 0, example: 412 });

/** Milliseconds; null when nothing was measured. */
export class UsageTimes {
  @Shown(MILLISECONDS)
  avg: number | null;

  @Shown(
    MILLISECONDS,
    'At most 2 % from the exact value (of all requests, the one of this rank): it is read from a histogram.',
  )
  p50: number | null;

  @Shown(MILLISECONDS, 'As exact as `p50`.')
  p95: number | null;
}

/** Sums of what is known; null when nothing is, or there were no requests. */
export class UsageMeasures {
  @Shown({ ...SUM, example: 3 })
  requests: number;

  @Shown({ ...SUM, example: 0 }, 'Requests whose outcome is not `ok`.')
  errors: number;

  @Shown(orNull(SUM), 'With the cached ones.')
  input_tokens: number | null;

  @Shown(orNull(SUM))
  cached_input_tokens: number | null;

  @Shown(orNull(SUM))
  output_tokens: number | null;

  @Shown(orNull(SUM))
  total_tokens: number | null;

  @Shown(instanceOf(UsageTimes))
  latency_ms: UsageTimes;

  @Shown(instanceOf(UsageTimes), 'To the first content of a stream, to the first byte of the body otherwise.')
  ttft_ms: UsageTimes;

  static from(row: Sums = NOTHING): UsageMeasures {
    return {
      requests: row.requests,
      errors: row.errors,
      input_tokens: row.input_tokens,
      cached_input_tokens: row.cached_input_tokens,
      output_tokens: row.output_tokens,
      total_tokens: row.total_tokens,
      latency_ms: { avg: row.latency_avg, p50: row.latency_p50, p95: row.latency_p95 },
      ttft_ms: { avg: row.ttft_avg, p50: row.ttft_p50, p95: row.ttft_p95 },
    };
  }
}

/** A group has the members that it was grouped by. */
export class UsageGroupResponse extends UsageMeasures {
  @Shown(maybe(orNull(text('gpt-5-mini'))), 'Null: the request named none.')
  model?: string | null;

  @Shown(maybe(orNull(text('openai'))))
  provider?: string | null;

  @Shown(maybe(orNull(ID)), 'Null: none was tried.')
  upstream_id?: number | null;

  @Shown(maybe(orNull(text('OpenAI'))), 'As it was called last.')
  upstream_name?: string | null;

  @Shown(maybe(ID))
  key_id?: number;

  @Shown(maybe(orNull(text('laptop'))), 'Null when the key is no longer on record.')
  key_name?: string | null;

  @Shown(maybe(USER_ID))
  user_id?: string;

  @Shown(maybe(orNull(EMAIL)), 'Null when the user is no longer on record.')
  user_email?: string | null;

  @Shown(maybe({ type: 'integer', example: 200 }), 'What the client was answered.')
  status?: number;

  static named(row: SummaryRow, { keys, users }: GroupNames): UsageGroupResponse {
    const { model, provider, upstream_id, upstream_name = null, key_id, user_id, status } = row;
    return {
      ...(model !== undefined && { model }),
      ...(provider !== undefined && { provider }),
      ...(upstream_id !== undefined && { upstream_id, upstream_name }),
      ...(key_id !== undefined && { key_id, key_name: keys.get(key_id) ?? null }),
      ...(user_id !== undefined && { user_id, user_email: users.get(user_id) ?? null }),
      ...(status !== undefined && { status }),
      ...UsageMeasures.from(row),
    };
  }
}

/** Not called after buckets: generators of clients give that name to the enum of {@link UsageResponse.bucket}. */
export class UsageIntervalResponse extends UsageMeasures {
  @Shown(TIME, 'Of the hour, day or month (UTC). Only what is between `from` and `to` is counted.')
  start: string;

  @Shown(TIME)
  end: string;

  @Shown(listOf(UsageGroupResponse), 'Those with the most requests first; none without `group_by`.')
  groups: UsageGroupResponse[];
}

export class UsageResponse {
  @Shown(TIME)
  from: string;

  @Shown(TIME, 'Not in it any more.')
  to: string;

  @Shown(oneOf(BUCKETS))
  bucket: Bucket;

  @Shown(instanceOf(UsageMeasures))
  totals: UsageMeasures;

  @Shown(listOf(UsageIntervalResponse), 'In order of time, empty ones included.')
  buckets: UsageIntervalResponse[];
}
