import { DataSource } from 'typeorm';
import type { TestApp } from './app.js';

/** EXPLAIN accepts one statement, so that texts of several statements are left out. */
const HAS_PLAN = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/;

/** Returns the plans of the statements that the service runs during `work`, one text for each statement. */
export async function plansOf({ app, database }: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const { logger } = app.get(DataSource);
  const { logQuery } = logger;
  const statements: { text: string; values: unknown[] }[] = [];
  logger.logQuery = (text, values) =>
    HAS_PLAN.test(text) &&
    !text.includes(';') &&
    statements.push({ text, values: (values ?? []) as unknown[] });
  try {
    await work();
  } finally {
    logger.logQuery = logQuery;
  }
  return Promise.all(
    statements.map(async ({ text, values }) => {
      const lines = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    }),
  );
}
