import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../test/support/eventually.js';
import { findBinaries } from './binaries.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import type { EmbeddedPostgres } from './embedded-postgres.js';

const OWNER_PROGRAM = 'test/support/embedded-postgres-owner.mjs';

const KEEP = 'DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 42 AS answer';

/** The connection that holds the owner's lock. */
const HOLDERS = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`;

interface Owner {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: Promise<string>;
  readonly errors: Promise<string>;
}

describe('the embedded PostgreSQL', () => {
  /** Making a cluster takes most of a test's time: one serves all that do not ask for a fresh folder. */
  const parents: string[] = [];
  let usedDir: string;
  let dataDir: string;
  let servers: EmbeddedPostgres[];
  let owners: Owner[];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    usedDir = await freshDir();
  });
  beforeEach(() => {
    dataDir = usedDir;
    servers = [];
    owners = [];
  });

  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    for (const { child } of owners) child.kill('SIGKILL');
    await Promise.all(owners.map(({ errors }) => errors));
    const pid = await postmasterPid().catch(() => undefined);
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGQUIT');
    if (pid !== undefined) await eventually(() => expect(isAlive(pid)).toBe(false));
  });
  afterAll(() => Promise.all(parents.map((parent) => rm(parent, { recursive: true }))));

  it('keeps its data over a restart', async () => {
    const first = await start();
    await query(first.url, KEEP);
    await first.stop();
    const second = await start();
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('holds UTF-8 text, sorts it by code point and counts time in UTC, whatever the machine does', async () => {
    const { url } = await start();
    const [database] = await query(
      url,
      `SELECT datname, pg_encoding_to_char(encoding) AS encoding, datlocale, current_setting('timezone') AS zone,
         upper('ä') AS upper FROM pg_database WHERE datname = current_database()`,
    );
    expect(database).toEqual({
      datname: 'mintkeep',
      encoding: 'UTF8',
      datlocale: 'C.UTF-8',
      zone: 'UTC',
      upper: 'Ä',
    });
  });

  it('passes settings to the server and makes the database that is asked for', async () => {
    const { url } = await start({ database: 'odd "name"', settings: { max_connections: '37' } });
    const sql = `SELECT current_database() AS name, current_setting('max_connections') AS connections`;
    expect(await query(url, sql)).toEqual([{ name: 'odd "name"', connections: '37' }]);
  });

  it('admits nobody without the password, and asks for a port and no socket file', async () => {
    const { url } = await start();
    const stranger = new URL(url);
    stranger.password = 'guessed';
    await expect(query(stranger.href, 'SELECT')).rejects.toThrow('password authentication failed');
    const sql = `SELECT current_setting('listen_addresses') || current_setting('unix_socket_directories') AS places`;
    expect(await query(url, sql)).toEqual([{ places: '127.0.0.1' }]);
  });

  it('leaves no process behind when it is stopped, once or twice', async () => {
    const server = await start();
    const pid = await postmasterPid();
    await Promise.all([server.stop(), server.stop()]);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it('refuses a second start on its data folder and is not disturbed by it', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(
      `another mintkeep is running on the data folder ${dataDir} (process ${process.pid})`,
    );
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.each(['a fresh', 'a used'])(
    'lets one of three processes win that start at once on %s folder',
    async (kind) => {
      if (kind === 'a fresh') dataDir = await freshDir();
      else await (await start()).stop();
      const racers = [startOwner(), startOwner(), startOwner()];
      const losers = await eventually(() => {
        const ended = racers.filter(({ child }) => child.exitCode !== null);
        expect(ended).toHaveLength(2);
        return ended;
      }, 30_000);
      const winner = racers.find((racer) => !losers.includes(racer))!;
      const refusal = `another mintkeep is running on the data folder ${dataDir} (process ${winner.child.pid})`;
      for (const { errors } of losers) expect(await errors).toContain(refusal);
      expect(await query(await urlOf(winner), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    },
  );

  it('takes over the server of a process that was killed', async () => {
    const killed = startOwner();
    await query(await urlOf(killed), KEEP);
    const pid = await postmasterPid();
    await kill(killed);
    expect(isAlive(pid)).toBe(true);

    const server = await start();
    expect(await query(server.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await expect(start()).rejects.toThrow('another mintkeep is running');
    await server.stop();
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it('starts after a process was killed while it made the cluster', async () => {
    dataDir = await freshDir();
    const killed = startOwner();
    await eventually(async () =>
      expect(await readdir(dataDir)).toContainEqual(expect.stringMatching(/^postgres-init-/)),
    );
    await kill(killed);
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log', 'secrets']);
  });

  it('stops the server when its process ends by an uncaught exception', async () => {
    const owner = startOwner();
    await urlOf(owner);
    const pid = await postmasterPid();
    owner.child.stdin.write('crash\n');
    expect(await owner.errors).toContain('Error: crash');
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it.each([
    ['a process that is gone', async () => (await endedProcess()).pid!],
    ['a process that is something else by now', () => process.pid],
  ])('starts over a lock file of %s', async (_, pidOf) => {
    await (await start()).stop();
    const lines = [await pidOf(), join(dataDir, 'postgres'), 1, 5432, '', '127.0.0.1', '0 0', 'ready'];
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), lines.join('\n'));
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  describe('when the server dies under it', () => {
    it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
      'by %s, comes back on the same port and stays the owner',
      async (signal) => {
        const { url } = await start();
        await query(url, KEEP);
        const pid = await postmasterPid();
        process.kill(pid, signal);
        await eventually(async () => expect(await postmasterPid()).not.toBe(pid));
        expect(await eventually(() => query(url, 'SELECT answer FROM kept'))).toEqual([{ answer: 42 }]);
        await eventually(async () => expect(await query(url, HOLDERS)).toHaveLength(1)); // or the start would win
        await expect(start()).rejects.toThrow(`(process ${process.pid})`);
      },
    );

    it('and is stopped meanwhile, does not bring it back', async () => {
      const server = await start();
      const pid = await postmasterPid();
      process.kill(pid, 'SIGKILL');
      await server.stop();
      await eventually(() => expect(isAlive(pid)).toBe(false));
      await expect(query(server.url, 'SELECT')).rejects.toThrow('ECONNREFUSED');
    });
  });

  it('takes its lock again when it loses the connection that holds it', async () => {
    const { url } = await start();
    const [before] = await query(url, HOLDERS);
    await query(url, `SELECT pg_terminate_backend(${before!.pid as number})`);
    await eventually(async () => {
      const [after] = await query(url, HOLDERS);
      expect(after?.pid).toEqual(expect.any(Number));
      expect(after?.pid).not.toBe(before!.pid);
    });
  });

  it('says what PostgreSQL says when that does not start', async () => {
    await expect(start({ settings: { max_connections: 'many' } })).rejects.toThrow(
      /does not start: .*invalid value for parameter "max_connections"/s,
    );
  });

  it('asks for DATABASE_URL where it is not installed', async () => {
    await expect(findBinaries('plan9-x64')).rejects.toThrow(
      'DATABASE_URL is required: the embedded PostgreSQL is not installed',
    );
  });

  it('removes what a killed start left behind even when the cluster was made by another', async () => {
    await (await start()).stop();
    await mkdir(join(dataDir, 'postgres-init-abc', 'cluster'), { recursive: true });
    await start();
    expect(await readdir(dataDir)).not.toContain('postgres-init-abc');
  });

  async function start(
    options: { database?: string; settings?: Record<string, string> } = {},
  ): Promise<EmbeddedPostgres> {
    const settings = { fsync: 'off', ...options.settings };
    const server = await startEmbeddedPostgres({ dataDir, ...options, settings });
    servers.push(server);
    return server;
  }

  /** Nothing is there yet; closed to others, as by `mktemp -d`. */
  async function freshDir(): Promise<string> {
    const parent = await mkdtemp(join(tmpdir(), 'mintkeep-embedded-'));
    parents.push(parent);
    return join(parent, 'data');
  }

  /** The same in a process of its own. */
  function startOwner(): Owner {
    const child = spawn(process.execPath, [OWNER_PROGRAM, dataDir], {
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const owner = { child, output: firstLine(child), errors: text(child.stderr) };
    owners.push(owner);
    return owner;
  }

  async function postmasterPid(): Promise<number> {
    return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  }
});

async function firstLine({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  for await (const chunk of stdout) return String(chunk).trim();
  return '';
}

async function urlOf({ output, errors }: Owner): Promise<string> {
  const url = await output;
  if (url === '') throw new Error(await errors);
  return url;
}

async function kill({ child }: Owner): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function endedProcess() {
  const child = spawn('true');
  await once(child, 'exit');
  return child;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
