import { Injectable } from '@nestjs/common';
import { toPage } from '../../common/api/paging.js';
import { pageStatement } from '../../database/connection/page-statement.js';
import type { PageRow } from '../../database/connection/page-statement.js';
import { UsageRequestsResponse } from './dto/usage-requests.response.js';
import { USAGE_FIELD_NAMES } from '../record/usage-record.js';
import { BoundedQueries } from './bounded-queries.js';
import { Conditions } from './usage-conditions.js';
import type { UsageOwner } from './usage-owner.js';
import { cursorOf } from './usage-page.js';
import type { UsagePage } from './usage-page.js';
import type { RequestSelection } from './usage-query.js';
import type { UsageRecord } from '../record/usage-record.js';
import { SearchTakesTooLong } from './usage.errors.js';

/** Lists usage records. */
@Injectable()
export class UsageRequestsService {
  constructor(private readonly queries: BoundedQueries) {}

  /**
   * Reads a page, newest first. New records do not change later pages.
   * @throws SearchTakesTooLong when few of very many records match
   */
  async page(
    owner: UsageOwner,
    { from, to, filters, outcomes }: RequestSelection,
    { limit, after, bytesOf }: UsagePage,
  ): Promise<UsageRequestsResponse> {
    const conditions = new Conditions(owner, filters);
    const range = conditions.within({ from, to }, 'at');
    const outcome = outcomes.length > 0 ? `AND outcome = ANY (${conditions.add(outcomes)}::text[])` : '';
    const next = after
      ? `AND (at, id) < (${conditions.add(after.at)}::timestamptz, ${conditions.add(after.id)}::uuid)`
      : '';
    const rows = `SELECT ${USAGE_FIELD_NAMES.join(', ')} FROM usage_records WHERE ${range} ${outcome} ${next}`;
    const text = pageStatement({ columns: USAGE_FIELD_NAMES, rows, order: 'at DESC, id DESC' }, limit);
    const query = { owner, text, values: conditions.values };
    const found = await this.queries.run<PageRow<UsageRecord>>(query, SearchTakesTooLong);
    const page = toPage<UsageRecord>(found, limit, bytesOf, cursorOf);
    return { requests: page.rows, next_cursor: page.nextCursor };
  }
}
