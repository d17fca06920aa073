import type { DataSource, EntityManager } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import type { BadRequest } from '../../common/api/domain-error.js';
import { FairSemaphore } from '../../common/async/fair-semaphore.js';
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

/**
 * Runs a query with a time limit. No owner can occupy all slots, and owners take turns. All members of an organization
 * share its slots.
 * @param TakesTooLong the error for a query over the time limit
 * @throws TooManyQueries when no slot becomes free in time
 */
export async function runBounded<Row>(
  dataSource: DataSource,
  { owner, text, values, settings = '' }: BoundedQuery,
  TakesTooLong: new () => BadRequest,
): Promise<Row[]> {
  const run = async (transaction: EntityManager) => {
    await transaction.query(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}; ${settings}`);
    return transaction.query<Row[]>(text, [...values]);
  };
  const key = 'userId' in owner ? `user ${owner.userId}` : `organization ${owner.organizationId}`;
  try {
    return await slotsOf(dataSource).run(key, () => dataSource.transaction(run));
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw new TakesTooLong();
  }
}

const slots = new WeakMap<DataSource, FairSemaphore<string>>();

function slotsOf(dataSource: DataSource): FairSemaphore<string> {
  const semaphore = slots.get(dataSource) ?? createSlots(dataSource);
  slots.set(dataSource, semaphore);
  return semaphore;
}

function createSlots({ options }: DataSource): FairSemaphore<string> {
  const { poolSize } = options as PostgresDataSourceOptions;
  const capacity = Math.max(1, Math.floor(SHARE_OF_CONNECTIONS * poolSize!));
  return new FairSemaphore({
    capacity,
    perKey: Math.max(1, Math.min(QUERIES_PER_OWNER, capacity - 1)),
    waitingPerKey: WAITING_PER_OWNER,
    timeoutMs: WAIT_TIMEOUT_MS,
    rejection: () => new TooManyQueries(),
  });
}
