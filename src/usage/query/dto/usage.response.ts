import {
  EMAIL,
  ID,
  instanceOf,
  listOf,
  optional,
  oneOf,
  orNull,
  ApiMember,
  SUM,
  text,
  TIME,
  USER_ID,
} from '../../../common/api/members.js';
import { SUMMED_FIELDS, SUMMED_NAMES } from '../../record/usage-record.js';
import type { SummedName, UsageSums } from '../../record/usage-record.js';
import { BUCKETS } from '../usage-query.js';
import type { Bucket } from '../usage-query.js';
import type { SummaryRow } from '../usage-summary-statement.js';
import { withFields } from './with-fields.js';

/** Names of keys and e-mail addresses of users, by id. */
export interface GroupNames {
  readonly keys: ReadonlyMap<number, string>;
  readonly users: ReadonlyMap<string, string>;
}

const MILLISECONDS = orNull({ type: 'number', minimum: 0, example: 412 });

/** Milliseconds; null when nothing was measured. */
export class UsageTimes {
  @ApiMember(MILLISECONDS)
  avg: number | null;

  @ApiMember(
    MILLISECONDS,
    'Read from a histogram: differs from the exact value (nearest rank) by at most 2 %.',
  )
  p50: number | null;

  @ApiMember(MILLISECONDS, 'Same accuracy as `p50`.')
  p95: number | null;
}

class UsageCounts {
  @ApiMember({ ...SUM, example: 3 })
  requests: number;

  @ApiMember({ ...SUM, example: 0 }, 'Requests whose outcome is not `ok`.')
  errors: number;

  @ApiMember({ ...SUM, example: 0 }, 'Requests that reached an upstream and have no known cost.')
  unpriced_requests: number;
}

/** Sums of the known values; null when none is known. */
export class UsageMeasures extends withFields(SUMMED_FIELDS, UsageCounts) {
  @ApiMember(instanceOf(UsageTimes))
  latency_ms: UsageTimes;

  @ApiMember(
    instanceOf(UsageTimes),
    'Time to the first content of a stream, otherwise to the first byte of the body.',
  )
  ttft_ms: UsageTimes;

  static from(row: MeasureColumns = NO_REQUESTS): UsageMeasures {
    return {
      requests: row.requests,
      errors: row.errors,
      unpriced_requests: row.unpriced_requests,
      ...pickSums((name) => row[name]),
      latency_ms: { avg: row.latency_avg, p50: row.latency_p50, p95: row.latency_p95 },
      ttft_ms: { avg: row.ttft_avg, p50: row.ttft_p50, p95: row.ttft_p95 },
    };
  }
}

function pickSums(valueOf: (name: SummedName) => number | null): UsageSums {
  return Object.fromEntries(SUMMED_NAMES.map((name) => [name, valueOf(name)])) as UsageSums;
}

type MeasureColumns = Omit<SummaryRow, 'level' | 'bucket'>;

const NO_REQUESTS: MeasureColumns = {
  requests: 0,
  errors: 0,
  unpriced_requests: 0,
  ...pickSums(() => null),
  latency_avg: null,
  latency_p50: null,
  latency_p95: null,
  ttft_avg: null,
  ttft_p50: null,
  ttft_p95: null,
};

/** Measures of one group, with the members that it was grouped by. */
export class UsageGroupResponse extends UsageMeasures {
  @ApiMember(optional(orNull(text('gpt-5-mini'))), 'Null if the request named no model.')
  model?: string | null;

  @ApiMember(optional(orNull(text('openai'))))
  provider?: string | null;

  @ApiMember(optional(orNull(ID)), 'Null if none was tried.')
  upstream_id?: number | null;

  @ApiMember(optional(orNull(text('OpenAI'))), 'Most recent name.')
  upstream_name?: string | null;

  @ApiMember(optional(ID))
  key_id?: number;

  @ApiMember(optional(orNull(text('laptop'))), 'Null when the key is no longer on record.')
  key_name?: string | null;

  @ApiMember(optional(USER_ID))
  user_id?: string;

  @ApiMember(optional(orNull(EMAIL)), 'Null when the user is no longer on record.')
  user_email?: string | null;

  @ApiMember(optional({ type: 'integer', example: 200 }), 'Status of the response to the client.')
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

/** Measures of one bucket. Generators of clients reserve the name `UsageBucket` for {@link UsageResponse.bucket}. */
export class UsageIntervalResponse extends UsageMeasures {
  @ApiMember(TIME, 'Start of the hour, day or month (UTC). Only requests between `from` and `to` count.')
  start: string;

  @ApiMember(TIME)
  end: string;

  @ApiMember(listOf(UsageGroupResponse), 'Groups with the most requests first; empty without `group_by`.')
  groups: UsageGroupResponse[];
}

export class UsageResponse {
  @ApiMember(TIME)
  from: string;

  @ApiMember(TIME, 'Exclusive.')
  to: string;

  @ApiMember(oneOf(BUCKETS))
  bucket: Bucket;

  @ApiMember(instanceOf(UsageMeasures))
  totals: UsageMeasures;

  @ApiMember(listOf(UsageIntervalResponse), 'In order of time, including buckets without requests.')
  buckets: UsageIntervalResponse[];
}
