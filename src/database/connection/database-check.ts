import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { withTimeout } from '../../common/async/with-timeout.js';
import { SettingsError } from '../../config/environment.js';
import { poolOf } from './data-source.js';
import { BASELINE } from '../migrations/index.js';
import { SESSION_SETTINGS } from './session-settings.js';

/** Version whose features the migrations use. */
const OLDEST_VERSION = 15;
/** Supported encodings. Clusters created without a locale have `SQL_ASCII`, which stores text unchanged. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];
/** Maximum time from sending to receiving a notification. */
const NOTIFICATION_TIMEOUT_MS = 2_000;

const SETTINGS = `
  SELECT name, setting FROM pg_settings
  WHERE name IN ('server_version_num', 'server_encoding', ${SESSION_SETTINGS.map(({ name }) => `'${name}'`).join(', ')})`;

/**
 * Checks that mintkeep can use the database, before anything is changed in it. Otherwise problems would show up later
 * as wrong times, lost text and revoked keys that are still accepted.
 * @throws SettingsError when the database is unsuitable; a retry does not help
 */
export async function assertUsable(dataSource: DataSource): Promise<void> {
  await assertSessionSettings(dataSource, 'DATABASE_URL');
  const problem = (await findSchemaProblem(dataSource)) ?? (await findSessionProblem(dataSource));
  if (problem !== undefined) throw new SettingsError(`DATABASE_URL ${problem}`);
}

/**
 * Checks version, encoding and session settings of a server.
 * @param setting that names the server
 * @throws SettingsError when a read would return wrong times or texts
 */
export async function assertSessionSettings(dataSource: DataSource, setting: string): Promise<void> {
  const rows = await dataSource.query<{ name: string; setting: string }[]>(SETTINGS);
  const problem = findSettingsProblem(new Map(rows.map(({ name, setting: value }) => [name, value])));
  if (problem !== undefined) throw new SettingsError(`${setting} ${problem}`);
}

function findSettingsProblem(settings: ReadonlyMap<string, string>): string | undefined {
  const version = Math.floor(Number(settings.get('server_version_num')) / 10_000);
  if (version < OLDEST_VERSION) return `leads to PostgreSQL ${version}: ${OLDEST_VERSION} or newer is needed`;
  const encoding = settings.get('server_encoding')!;
  if (!ENCODINGS.includes(encoding)) return `names a database whose encoding is ${encoding}: UTF8 is needed`;
  for (const { name, accepted } of SESSION_SETTINGS) {
    const value = settings.get(name)!;
    if (!accepted.test(value))
      return `leads to sessions whose ${name} is ${value}, whatever they ask for: does a pooler drop their startup parameter options?`;
  }
  return undefined;
}

/** Rejects databases without the baseline migration: they have the migrations of a version before 0.2. */
async function findSchemaProblem(dataSource: DataSource): Promise<string | undefined> {
  const tables = `SELECT to_regclass('migrations') IS NOT NULL AS found`;
  const [table] = await dataSource.query<{ found: boolean }[]>(tables);
  if (!table!.found) return undefined;
  const recorded = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  if (recorded.length === 0 || recorded.some(({ name }) => name === BASELINE.name)) return undefined;
  return (
    'names a database of a version before 0.2, which cannot be migrated: name an empty database ' +
    '(with the embedded PostgreSQL: set DATA_DIR to an empty folder)'
  );
}

async function findSessionProblem(dataSource: DataSource): Promise<string | undefined> {
  if (await receivesNotifications(dataSource)) return undefined;
  return 'leads to sessions that do not hear the notifications they listen for: is a pooler in another mode than session mode?';
}

/**
 * Whether an idle session receives the notifications of another session. A pooler in transaction mode prevents that,
 * and also loses session-level locks.
 */
async function receivesNotifications(dataSource: DataSource): Promise<boolean> {
  const channel = `mintkeep_${randomUUID()}`;
  const listening = await poolOf(dataSource).connect();
  try {
    let isReceived = false;
    const received = new Promise<void>((resolve) =>
      listening.on('notification', (notification) => {
        isReceived ||= notification.channel === channel;
        if (isReceived) resolve();
      }),
    );
    await listening.query(`LISTEN "${channel}"`);
    await dataSource.query('SELECT pg_notify($1, $2)', [channel, '']);
    await withTimeout(NOTIFICATION_TIMEOUT_MS, received).catch(() => undefined);
    // If the process was stalled, the notification arrives before this response. Throws when the connection was lost.
    await listening.query('UNLISTEN *');
    return isReceived;
  } finally {
    listening.release(true);
  }
}
