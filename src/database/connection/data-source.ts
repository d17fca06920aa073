import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { Pool } from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { errorMessage } from '../../common/logging/error-message.js';
import { migrations } from '../migrations/index.js';
import { SnakeCaseNaming } from './naming-strategy.js';
import { assertPrimary, PoolClient } from './pool-client.js';
import { SESSION_SETTINGS } from './session-settings.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum duration of a statement; PostgreSQL cancels longer ones. */
export const STATEMENT_TIMEOUT_MS = 30_000;
/** Exceeds the maximum time that a transaction waits for object storage. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

// Ids have at most 15 digits, so that a number is exact. Sums of costs are exact in SQL, and are shown as the nearest
// number. Times are parsed to the format of the API, so that rows need
// no conversion. TypeORM converts such a string to a Date if an entity declares one.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTime);

/** Converts `2026-01-31 12:00:00.5+00` (sessions use UTC) to `2026-01-31T12:00:00.500Z`. */
function isoTime(text: string): string {
  const fraction = text.slice(20, text.indexOf('+')).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

/** Appends the settings to the options of the URL. PostgreSQL applies the last value of each setting. */
function withSessionSettings(url: string): string {
  const extended = new URL(url);
  const settings = SESSION_SETTINGS.map(({ name, value }) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`);
  const options = [extended.searchParams.get('options') ?? [], settings].flat();
  extended.searchParams.set('options', options.join(' '));
  return extended.href;
}

/** Logs the loss of an idle connection. The pool replaces the connection on demand. */
export function onIdleConnectionError(error: Error): void {
  new Logger('Database').warn({ reason: errorMessage(error) }, 'idle connection lost');
}

/**
 * Options of all connections: of the service, of commands and of tests.
 * @param poolSize maximum number of connections; the default suits commands
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
    poolErrorHandler: onIdleConnectionError,
    extra: {
      Client: PoolClient,
      onConnect: assertPrimary,
      keepAlive: true,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
  };
}

/**
 * Options of connections that only read, on a standby or on the primary.
 * @param Client class of the connections
 */
export function standbyOptions(url: string, poolSize: number, Client: typeof pg.Client): DataSourceOptions {
  const options = dataSourceOptions(url, poolSize);
  const extra = { ...(options.extra as object), Client, onConnect: undefined };
  return { ...options, migrations: [], extra };
}

/** Returns the pool that TypeORM uses. */
export function poolOf({ driver }: DataSource): Pool {
  return (driver as unknown as { master: Pool }).master;
}
