import { createDatabase } from '../../../test/support/database.js';
import type { TestDatabase } from '../../../test/support/database.js';
import { startTcpProxy } from '../../../test/support/tcp-proxy.js';
import type { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { SettingsError } from '../../config/environment.js';
import { migrateDatabase } from '../database.module.js';

type Alteration = NonNullable<Parameters<typeof startTcpProxy>[1]>;

let database: TestDatabase;
let proxy: TcpProxy | undefined;

afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
  await database.drop();
});

/** Returns the URL of a proxy that alters the messages of the database. */
async function altered(altering: Alteration): Promise<string> {
  proxy = await startTcpProxy(database.url, altering);
  return proxy.url;
}

const blanks = (text: string) => ' '.repeat(text.length);
const WITHOUT_OPTIONS: Alteration = {
  ofRequests: (text) => text.replace(/(?<=\0options\0)[^\0]*/, blanks),
};
const OLD: Alteration = {
  ofResponses: (text) => text.replace(/(?<=server_version_num....)\d{6}/s, '140019'),
};
/** Drops the notifications that the check listens for. */
const DEAF: Alteration = { ofResponses: (text) => text.replace(/mintkeep_[\da-f-]{36}/, blanks) };

interface Unusable {
  readonly encoding?: string;
  /** Default settings of the database, which sessions override unless their options are dropped. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly altering?: Alteration;
}

it.each<[string, Unusable, string]>([
  ['an old PostgreSQL', { altering: OLD }, 'DATABASE_URL leads to PostgreSQL 14: 15 or newer is needed'],
  [
    'an encoding without all of Unicode',
    { encoding: 'LATIN1' },
    'DATABASE_URL names a database whose encoding is LATIN1: UTF8 is needed',
  ],
  [
    'sessions in another time zone',
    { settings: { TimeZone: 'Europe/Berlin' }, altering: WITHOUT_OPTIONS },
    'DATABASE_URL leads to sessions whose TimeZone is Europe/Berlin, whatever they ask for: ' +
      'does a pooler drop their startup parameter options?',
  ],
  [
    'sessions with another format of times',
    { settings: { DateStyle: 'German' }, altering: WITHOUT_OPTIONS },
    'DATABASE_URL leads to sessions whose DateStyle is German, DMY, whatever they ask for: ' +
      'does a pooler drop their startup parameter options?',
  ],
  [
    'sessions with a stricter isolation level',
    { settings: { default_transaction_isolation: 'serializable' }, altering: WITHOUT_OPTIONS },
    'DATABASE_URL leads to sessions whose default_transaction_isolation is serializable, whatever they ask for: ' +
      'does a pooler drop their startup parameter options?',
  ],
  [
    'sessions that receive no notifications',
    { altering: DEAF },
    'DATABASE_URL leads to sessions that do not hear the notifications they listen for: ' +
      'is a pooler in another mode than session mode?',
  ],
])(
  'rejects %s, and leaves the database unchanged',
  async (_, { encoding, settings = {}, altering = {} }, message) => {
    database = await createDatabase({ empty: true, encoding });
    for (const [name, value] of Object.entries(settings)) await setDefault(name, value);
    await expect(migrateDatabase(await altered(altering))).rejects.toThrow(new SettingsError(message));
    expect(await database.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
  },
);

it.each<[string, string | undefined, Alteration]>([
  ['without an encoding', 'SQL_ASCII', {}],
  ['whose sessions have the right settings by default', undefined, WITHOUT_OPTIONS],
])('accepts a database %s', async (_, encoding, altering) => {
  database = await createDatabase({ empty: true, encoding });
  await setDefault('TimeZone', 'Etc/UTC');
  expect(await migrateDatabase(await altered(altering))).toContain('Baseline1764600000000');
});

const setDefault = (name: string, value: string) =>
  database.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${name} = ''${value}''', current_database()); END $$`,
  );
