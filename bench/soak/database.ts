import pg from 'pg';

export type Query = <Row extends pg.QueryResultRow>(sql: string) => Promise<Row[]>;

/** Queries the database of the replicas. */
export async function withDatabase(url: string, use: (query: Query) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await use(async <Row extends pg.QueryResultRow>(sql: string) => (await client.query<Row>(sql)).rows);
  } finally {
    await client.end();
  }
}
