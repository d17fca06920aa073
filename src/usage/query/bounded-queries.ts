import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { BadRequest } from '../../common/api/domain-error.js';
import { FairSemaphore } from '../../common/async/fair-semaphore.js';
import { Settings } from '../../config/settings.js';
import { isStatementTimeout } from '../../database/connection/sql-states.js';
import { concurrentQueries, QUERY_TIMEOUT_MS, UsageDatabase } from './usage-database.js';
import type { UsageOwner } from './usage-owner.js';
import { TooManyQueries } from './usage.errors.js';

export const QUERIES_PER_OWNER = 3;
export const WAITING_PER_OWNER = 50;
export const WAIT_TIMEOUT_MS = 10_000;

/** A query whose cost depends on the parameters of its caller. */
export interface BoundedQuery {
  readonly owner: UsageOwner;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Further statements, which apply to this query only. */
  readonly settings?: string;
}

/** Runs queries so that no owner can occupy all slots, and owners take turns. Members of an organization share its slots. */
@Injectable()
export class BoundedQueries {
  private readonly slots: FairSemaphore<string>;

  constructor(
    private readonly database: UsageDatabase,
    settings: Settings,
  ) {
    const capacity = concurrentQueries(settings);
    this.slots = new FairSemaphore({
      capacity,
      perKey: Math.max(1, Math.min(QUERIES_PER_OWNER, capacity - 1)),
      waitingPerKey: WAITING_PER_OWNER,
      timeoutMs: WAIT_TIMEOUT_MS,
      rejection: () => new TooManyQueries(),
    });
  }

  /**
   * Runs a query with a time limit.
   * @param TakesTooLong the error for a query over the time limit
   * @throws TooManyQueries when no slot becomes free in time
   */
  async run<Row>(
    { owner, text, values, settings = '' }: BoundedQuery,
    TakesTooLong: new () => BadRequest,
  ): Promise<Row[]> {
    const work = async (transaction: EntityManager) => {
      await transaction.query(`SET LOCAL statement_timeout = ${QUERY_TIMEOUT_MS}; ${settings}`);
      return transaction.query<Row[]>(text, [...values]);
    };
    const key = 'userId' in owner ? `user ${owner.userId}` : `organization ${owner.organizationId}`;
    try {
      return await this.slots.run(key, () => this.database.read(work));
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      throw new TakesTooLong();
    }
  }
}
