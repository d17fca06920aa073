import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { within } from '../common/within.js';
import { SettingsError } from '../config/environment.js';
import { poolOf } from './data-source.js';
import { SESSION_SETTINGS } from './session-settings.js';

/** The migrations use what this one brought. */
const OLDEST_VERSION = 15;
/** Clusters that were made without a locale have the second one: text arrives as it is. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];
/** From the moment at which PostgreSQL has sent a notification. */
const NOTIFICATION_TIMEOUT_MS = 2_000;

const SETTINGS = `
  SELECT name, setting FROM pg_settings
  WHERE name IN ('server_version_num', 'server_encoding', ${SESSION_SETTINGS.map(({ name }) => `'${name}'`).join(', ')})`;

/**
 * Looks whether the database is one that mintkeep can use, before anything is done to it: what it lacks would not show
 * at once, but as wrong times, lost text and revoked keys that are served on.
 * @throws SettingsError which trying again does not mend
 */
export async function assertUsable(dataSource: DataSource): Promise<void> {
  const rows = await dataSource.query<{ name: string; setting: string }[]>(SETTINGS);
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  const problem = problemOf(settings) ?? (await problemOfSessions(dataSource));
  if (problem !== undefined) throw new SettingsError(`DATABASE_URL ${problem}`);
}

function problemOf(settings: ReadonlyMap<string, string>): string | undefined {
  const version = Math.floor(Number(settings.get('server_version_num')) / 10_000);
  if (version < OLDEST_VERSION) return `leads to PostgreSQL ${version}: ${OLDEST_VERSION} or newer is needed`;
  const encoding = settings.get('server_encoding')!;
  if (!ENCODINGS.includes(encoding)) return `names a database whose encoding is ${encoding}: UTF8 is needed`;
  for (const { name, shown } of SESSION_SETTINGS) {
    const value = settings.get(name)!;
    if (!shown.test(value))
      return `leads to sessions whose ${name} is ${value}, whatever they ask for: does a pooler drop their startup parameter options?`;
  }
  return undefined;
}

async function problemOfSessions(dataSource: DataSource): Promise<string | undefined> {
  if (await hearsOthers(dataSource)) return undefined;
  return 'leads to sessions that do not hear the notifications they listen for: is a pooler in another mode than session mode?';
}

/**
 * Whether a session that listens, and rests, hears of what another one notifies. Over a pooler that lends a server
 * connection for each transaction it does not; nor would it keep the locks that are a session's.
 */
async function hearsOthers(dataSource: DataSource): Promise<boolean> {
  const channel = `mintkeep_${randomUUID()}`;
  const listening = await poolOf(dataSource).connect();
  try {
    let isHeard = false;
    const heard = new Promise<void>((resolve) =>
      listening.on('notification', (notification) => {
        isHeard ||= notification.channel === channel;
        if (isHeard) resolve();
      }),
    );
    await listening.query(`LISTEN "${channel}"`);
    await dataSource.query('SELECT pg_notify($1, $2)', [channel, '']);
    await within(NOTIFICATION_TIMEOUT_MS, heard).catch(() => undefined);
    // Where the process was held up, the notification is before this answer. Throws where the connection was lost.
    await listening.query('UNLISTEN *');
    return isHeard;
  } finally {
    listening.release(true);
  }
}
