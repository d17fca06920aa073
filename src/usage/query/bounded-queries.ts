import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { BadRequest } from '../../common/api/domain-error.js';
import { FairSemaphore } from '../../common/async/fair-semaphore.js';
import { Settings } from '../../config/settings.js';
import { isStatementTimeout } from '../../database/connection/sql-states.js';
import type { UsageOwner } from './usage-owner.js';
import { TooManyQueries } from './usage.errors.js';

/** Ten times as long as the summary of a year at 1,000 requests a second by day and model. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Share of a replica's database connections. */
export const SHARE_OF_CONNECTIONS = 0.4;
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
    @InjectDataSource() private readonly dataSource: DataSource,
    { databasePoolSize }: Settings,
  ) {
    const capacity = Math.max(1, Math.floor(SHARE_OF_CONNECTIONS * databasePoolSize));
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
      await transaction.query(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}; ${settings}`);
      return transaction.query<Row[]>(text, [...values]);
    };
    const key = 'userId' in owner ? `user ${owner.userId}` : `organization ${owner.organizationId}`;
    try {
      return await this.slots.run(key, () => this.dataSource.transaction(work));
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      throw new TakesTooLong();
    }
  }
}
