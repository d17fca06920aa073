import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { Pool } from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { messagesOf } from '../common/messages-of.js';
import { migrations } from './migrations/index.js';
import { SnakeCaseNaming } from './naming-strategy.js';
import { assertPrimary, PoolClient } from './pool-client.js';
import { SESSION_SETTINGS } from './session-settings.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** PostgreSQL ends what takes longer. */
export const STATEMENT_TIMEOUT_MS = 30_000;
/** Above the longest time that a transaction may wait for object storage. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

// Ids fit into 15 digits, so that a number holds them; times leave PostgreSQL as the API shows them, and
// rows of a list need no conversion. TypeORM makes a Date of such a text where an entity asks for one.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTime);

/** `2026-01-31 12:00:00.5+00` (sessions are in UTC) as `2026-01-31T12:00:00.500Z`. */
function isoTime(text: string): string {
  const fraction = text.slice(20, text.indexOf('+')).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

/** Behind the options of the URL: the last one counts. */
function withSessionSettings(url: string): string {
  const extended = new URL(url);
  const asked = SESSION_SETTINGS.map(({ name, value }) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`);
  const options = [extended.searchParams.get('options') ?? [], asked].flat();
  extended.searchParams.set('options', options.join(' '));
  return extended.href;
}

/** A pool goes on without it. */
export function idleConnectionLost(error: Error): void {
  new Logger('Database').warn({ reason: messagesOf(error) }, 'idle connection lost');
}

/**
 * What the service, the migration commands and the tests connect with.
 * @param poolSize how many connections at the most; the default is for who does one thing at a time
 */
export function dataSourceOptions(url: string, poolSize = 5): DataSourceOptions {
  return {
    type: 'postgres',
    url: withSessionSettings(url),
    namingStrategy: new SnakeCaseNaming(),
    migrations,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    installExtensions: false,
    poolErrorHandler: idleConnectionLost,
    extra: {
      Client: PoolClient,
      onConnect: assertPrimary,
      keepAlive: true,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
  };
}

/** The pool behind the ORM. */
export function poolOf({ driver }: DataSource): Pool {
  return (driver as unknown as { master: Pool }).master;
}
