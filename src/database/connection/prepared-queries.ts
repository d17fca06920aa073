import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool, QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { poolOf } from './data-source.js';

/** Statement that PostgreSQL plans once per connection. The name must be unique. */
export interface PreparedStatement {
  readonly name: string;
  readonly text: string;
}

/**
 * Runs frequent reads without TypeORM, as named statements on the same pool. Entities would cost about 5 µs per row,
 * which is most of the time of a list.
 */
@Injectable()
export class PreparedQueries {
  private readonly pool: Pool;

  constructor(@InjectDataSource() dataSource: DataSource) {
    this.pool = poolOf(dataSource);
  }

  rows<Row extends QueryResultRow>(statement: PreparedStatement, values: unknown[]): Promise<Row[]> {
    return preparedRows(this.pool, statement, values);
  }
}

/** @internal */
export async function preparedRows<Row extends QueryResultRow>(
  pool: Pool,
  { name, text }: PreparedStatement,
  values: unknown[],
): Promise<Row[]> {
  const { rows } = await pool.query<Row>({ name, text, values });
  return rows;
}
