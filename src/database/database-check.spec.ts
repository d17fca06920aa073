import { createDatabase } from '../../test/support/database.js';
import type { TestDatabase } from '../../test/support/database.js';
import { startTcpProxy } from '../../test/support/tcp-proxy.js';
import type { TcpProxy } from '../../test/support/tcp-proxy.js';
import { SettingsError } from '../config/environment.js';
import { bringUpToDate } from './database.module.js';

type Alteration = NonNullable<Parameters<typeof startTcpProxy>[1]>;

let database: TestDatabase;
let proxy: TcpProxy | undefined;

afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
  await database.drop();
});

/** The URL at which the database looks different. */
async function altered(altering: Alteration): Promise<string> {
  proxy = await startTcpProxy(database.url, altering);
  return proxy.url;
}

const blanks = (text: string) => ' '.repeat(text.length);
const WITHOUT_OPTIONS: Alteration = {
  ofRequests: (text) => text.replace(/(?<=\0options\0)[^\0]*/, blanks),
};
const OLD: Alteration = { ofAnswers: (text) => text.replace(/(?<=server_version_num....)\d{6}/s, '140019') };
/** None arrives that the sessions of the check listen for. */
const DEAF: Alteration = { ofAnswers: (text) => text.replace(/mintkeep_[\da-f-]{36}/, blanks) };

interface Unusable {
  readonly encoding?: string;
  /** Settings of the database, which sessions ask to have otherwise. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly altering?: Alteration;
}

it.each<[string, Unusable, string]>([
  ['an old PostgreSQL', { altering: OLD }, 'DATABASE_URL leads to PostgreSQL 14: 15 or newer is needed'],
  [
    'an encoding that not all text has',
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
    'sessions that write times in another way',
    { settings: { DateStyle: 'German' }, altering: WITHOUT_OPTIONS },
    'DATABASE_URL leads to sessions whose DateStyle is German, DMY, whatever they ask for: ' +
      'does a pooler drop their startup parameter options?',
  ],
  [
    'sessions whose transactions would fail where they meet',
    { settings: { default_transaction_isolation: 'serializable' }, altering: WITHOUT_OPTIONS },
    'DATABASE_URL leads to sessions whose default_transaction_isolation is serializable, whatever they ask for: ' +
      'does a pooler drop their startup parameter options?',
  ],
  [
    'sessions that do not hear others',
    { altering: DEAF },
    'DATABASE_URL leads to sessions that do not hear the notifications they listen for: ' +
      'is a pooler in another mode than session mode?',
  ],
])(
  'refuses %s, and leaves the database as it is',
  async (_, { encoding, settings = {}, altering = {} }, message) => {
    database = await createDatabase({ empty: true, encoding });
    for (const [name, value] of Object.entries(settings)) await setDefault(name, value);
    await expect(bringUpToDate(await altered(altering))).rejects.toThrow(new SettingsError(message));
    expect(await database.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
  },
);

it.each<[string, string | undefined, Alteration]>([
  ['that has no encoding', 'SQL_ASCII', {}],
  ['whose sessions are as they should be without being asked', undefined, WITHOUT_OPTIONS],
])('takes a database %s', async (_, encoding, altering) => {
  database = await createDatabase({ empty: true, encoding });
  await setDefault('TimeZone', 'Etc/UTC');
  expect(await bringUpToDate(await altered(altering))).toContain('UsersAndOrganizations1763700000000');
});

const setDefault = (name: string, value: string) =>
  database.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${name} = ''${value}''', current_database()); END $$`,
  );
