import type { DataSource, EntityManager } from 'typeorm';
import type { BadRequest } from '../common/domain-error.js';
import { tookTooLong } from '../database/sql-states.js';
import { askInTurn } from './question-gates.js';
import type { UsageOwner } from './usage-conditions.js';

/** A year at 1,000 requests a second, summed by day and model, takes a tenth of it. */
const TIMEOUT_MS = 10_000;

/** A question, and whose usage it is about. */
export interface Question {
  readonly owner: UsageOwner;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * The rows of a question whose cost is its asker's choice.
 * @param settings further statements, which hold for this question only
 * @param TakesTooLong what it is refused with then
 * @throws BadRequest when it takes too long, or its turn does not come
 */
export async function timelyRows<Row>(
  dataSource: DataSource,
  { owner, text, values }: Question,
  TakesTooLong: new () => BadRequest,
  settings = '',
): Promise<Row[]> {
  const ask = async (transaction: EntityManager) => {
    await transaction.query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}; ${settings}`);
    return transaction.query<Row[]>(text, [...values]);
  };
  try {
    return await askInTurn(dataSource, JSON.stringify(owner), () => dataSource.transaction(ask));
  } catch (error) {
    if (!tookTooLong(error)) throw error;
    throw new TakesTooLong();
  }
}
