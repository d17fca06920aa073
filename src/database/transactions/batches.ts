import type { DataSource } from 'typeorm';

/** Maximum number of rows that one statement of a job changes, so that the statement ends before its timeout. */
export const BATCH_ROWS = 10_000;

/**
 * Repeats a statement that changes at most {@link BATCH_ROWS} rows, until it changes fewer.
 * @returns the total number of changed rows
 */
export async function runInBatches(dataSource: DataSource, statement: string): Promise<number> {
  for (let total = 0; ;) {
    const [, rows] = await dataSource.query<[unknown[], number]>(statement);
    total += rows;
    if (rows < BATCH_ROWS) return total;
  }
}
