import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { UsageRequestsResponse } from './dto/usage-requests.response.js';
import { timelyRows } from './timely-rows.js';
import { Conditions } from './usage-conditions.js';
import type { UsageOwner } from './usage-conditions.js';
import { cursorOf } from './usage-page.js';
import type { UsagePage } from './usage-page.js';
import type { UsageSelection } from './usage-query.js';
import type { UsageRecord } from './usage-record.js';
import { SearchTakesTooLong } from './usage.errors.js';

/** In the order in which records are shown. */
export const RECORD_MEMBERS = [
  ...['id', 'request_id', 'at', 'organization_id', 'user_id', 'key_id', 'upstream_id', 'upstream_name'],
  ...['provider', 'method', 'path', 'model', 'stream', 'status', 'outcome', 'input_tokens'],
  ...[
    'cached_input_tokens',
    'output_tokens',
    'total_tokens',
    'usage_source',
    'latency_ms',
    'ttft_ms',
    'attempts',
  ],
] as const;

/** The records themselves. */
@Injectable()
export class UsageRequestsService {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /**
   * Newest first. Pages stay what they are while records are added.
   * @throws SearchTakesTooLong where it looks for what is rare among very many
   */
  async page(
    owner: UsageOwner,
    { from, to, filters }: UsageSelection,
    { limit, after }: UsagePage,
  ): Promise<UsageRequestsResponse> {
    const conditions = new Conditions(owner, filters);
    const range = conditions.within({ from, to }, 'at');
    const next = after
      ? `AND (at, id) < (${conditions.add(after.at)}::timestamptz, ${conditions.add(after.id)}::uuid)`
      : '';
    const text = `SELECT ${RECORD_MEMBERS.join(', ')} FROM usage_records WHERE ${range} ${next}
      ORDER BY at DESC, id DESC LIMIT ${limit + 1}`;
    const question = { owner, text, values: conditions.values };
    const rows = await timelyRows<UsageRecord>(this.dataSource, question, SearchTakesTooLong);
    const requests = rows.slice(0, limit);
    return { requests, next_cursor: rows.length > limit ? cursorOf(requests.at(-1)!) : null };
  }
}
