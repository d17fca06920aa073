import type { DataSource } from 'typeorm';

/** What one statement of a job changes at most, so that it ends in time however much there is to do. */
export const BATCH_ROWS = 10_000;

/**
 * Does a statement that changes {@link BATCH_ROWS} at most again and again, until there are fewer.
 * @returns how many rows it has changed in all
 */
export async function inBatches(dataSource: DataSource, statement: string): Promise<number> {
  for (let total = 0; ;) {
    const [, rows] = await dataSource.query<[unknown[], number]>(statement);
    total += rows;
    if (rows < BATCH_ROWS) return total;
  }
}
