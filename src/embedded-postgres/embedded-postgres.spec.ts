import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { Logger } from '@nestjs/common';
import { eventually } from '../../test/support/eventually.js';
import { findBinaries } from './binaries.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import type { EmbeddedPostgres } from './embedded-postgres.js';

const OWNER_PROGRAM = 'test/support/embedded-postgres-owner.mjs';

const RACES = 8;
/** Allows for three concurrent creations of clusters on a busy machine. */
const RACE_TIMEOUT_MS = 120_000;

const LONG_MS = 60_000;

const KEEP = 'DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 42 AS answer';

/** Finds the connection that holds the lock of the owner. */
const HOLDERS = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`;

const itAsRoot = process.geteuid?.() === 0 ? it : it.skip;

interface Owner {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: Promise<string>;
  readonly errors: Promise<string>;
}

describe('the embedded PostgreSQL', () => {
  /** Parents of data folders. The creation of a cluster is slow, so most tests share one folder. */
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

  it('stores UTF-8 text, sorts it by code point and uses UTC, independent of the machine', async () => {
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

  it('passes settings to the server and creates the named database', async () => {
    const { url } = await start({ database: 'odd "name"', settings: { max_connections: '37' } });
    const sql = `SELECT current_database() AS name, current_setting('max_connections') AS connections`;
    expect(await query(url, sql)).toEqual([{ name: 'odd "name"', connections: '37' }]);
  });

  it('requires the password, and listens on a port without a socket file', async () => {
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

  it('rejects a second start on its data folder and continues undisturbed', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(
      `another mintkeep is running on the data folder ${dataDir} (process ${process.pid})`,
    );
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.each(['a fresh', 'a used'])(
    'lets exactly one of three concurrent starts win on %s folder',
    async (kind) => {
      if (kind === 'a fresh') dataDir = await freshDir();
      else await (await start()).stop();
      const winner = await race();
      expect(await query(await urlOf(winner), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    },
  );

  it(
    'lets exactly one of three concurrent starts win every time, and leaves no draft of a cluster',
    async () => {
      for (let round = 0; round < RACES; round++) {
        dataDir = await freshDir();
        const winner = await race();
        expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log', 'secrets']);
        const pid = await postmasterPid();
        winner.child.stdin.write('crash\n');
        await eventually(() => expect(isAlive(pid)).toBe(false), RACE_TIMEOUT_MS);
      }
    },
    RACES * RACE_TIMEOUT_MS,
  );

  it('takes over the server of a killed process', async () => {
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

  it('starts after a process was killed while it created the cluster', async () => {
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
    ['an ended process', async () => (await endedProcess()).pid!],
    ['a process of another program', () => process.pid],
  ])('ignores a lock file of %s', async (_, pidOf) => {
    await (await start()).stop();
    const lines = [await pidOf(), join(dataDir, 'postgres'), 1, 5432, '', '127.0.0.1', '0 0', 'ready'];
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), lines.join('\n'));
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  describe('ended by something else', () => {
    it.each(['SIGKILL', 'SIGINT'] as const)(
      'reports the end by %s and does not restart the server',
      async (signal) => {
        const { url, ended } = await start({ exitTimeoutMs: LONG_MS }); // a busy machine needs long to shut down
        await query(url, KEEP);
        const pid = await postmasterPid();
        process.kill(pid, signal);
        const log = join(dataDir, 'postgres.log');
        await expect(ended).rejects.toThrow(
          new RegExp(`the embedded PostgreSQL ended (by SIGKILL|with exit code 0): see ${log}$`),
        );
        await eventually(() => expect(isAlive(pid)).toBe(false));
        await expect(query(url, 'SELECT')).rejects.toThrow('ECONNREFUSED');
        const again = await start();
        expect(await query(again.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
      },
    );

    it('leaves the server of the next start running when it is stopped afterwards', async () => {
      const first = await start();
      process.kill(await postmasterPid(), 'SIGKILL');
      await expect(first.ended).rejects.toThrow('ended by SIGKILL');
      const second = await start();
      await first.stop();
      expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  });

  it('ends when it loses the connection that locks the data folder', async () => {
    const { url, ended } = await start();
    const pid = await postmasterPid();
    const [holder] = await query(url, HOLDERS);
    await query(url, `SELECT pg_terminate_backend(${holder!.pid as number})`);
    await expect(ended).rejects.toThrow('or closed the connection that locks the data folder');
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  itAsRoot('starts in a folder that only root may enter', async () => {
    dataDir = await freshDir();
    await chmod(dirname(dataDir), 0o700);
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('reports the output of PostgreSQL when it does not start', async () => {
    await expect(start({ settings: { max_connections: 'many' } })).rejects.toThrow(
      /does not start: .*invalid value for parameter "max_connections"/s,
    );
  });

  it('requires DATABASE_URL if it is not installed', async () => {
    await expect(findBinaries('plan9-x64')).rejects.toThrow(
      'DATABASE_URL is required: the embedded PostgreSQL is not installed',
    );
  });

  it('removes drafts of killed starts even if another start created the cluster', async () => {
    await (await start()).stop();
    const { pid } = await endedProcess();
    const drafts = ['postgres-init-abc', `postgres-init-${pid}-abc`, `postgres-init-${process.pid}-abc`];
    for (const draft of drafts) await mkdir(join(dataDir, draft, 'cluster'), { recursive: true });
    await start();
    const names = await readdir(dataDir);
    for (const draft of drafts) expect(names).not.toContain(draft);
  });

  it('keeps the draft of another start in progress', async () => {
    await (await start()).stop();
    const other = spawn('cat'); // runs until it is killed
    const draft = `postgres-init-${other.pid}-abc`;
    await mkdir(join(dataDir, draft, 'cluster'), { recursive: true });
    await start();
    expect(await readdir(dataDir)).toContain(draft);
    other.kill('SIGKILL');
    await once(other, 'exit');
    await rm(join(dataDir, draft), { recursive: true });
  });

  async function start(
    options: { database?: string; settings?: Record<string, string>; exitTimeoutMs?: number } = {},
  ): Promise<EmbeddedPostgres> {
    const settings = { fsync: 'off', ...options.settings };
    const server = await startEmbeddedPostgres({ dataDir, ...options, settings });
    servers.push(server);
    return server;
  }

  /** Returns a folder that does not exist yet. PostgreSQL may run as another user, who has to enter the parent. */
  async function freshDir(): Promise<string> {
    const parent = await mkdtemp(join(tmpdir(), 'mintkeep-embedded-'));
    await chmod(parent, 0o755);
    parents.push(parent);
    return join(parent, 'data');
  }

  /** Starts three processes at once. @returns the winner, after the two others ended */
  async function race(): Promise<Owner> {
    const racers = [startOwner(), startOwner(), startOwner()];
    const losers = await eventually(() => {
      const ended = racers.filter(({ child }) => child.exitCode !== null);
      expect(ended).toHaveLength(2);
      return ended;
    }, RACE_TIMEOUT_MS);
    const winner = racers.find((racer) => !losers.includes(racer))!;
    await urlOf(winner);
    const reason = `another mintkeep is running on the data folder ${dataDir} (process ${winner.child.pid})`;
    for (const { child, errors } of losers) {
      expect(await errors).toContain(reason);
      expect(child.exitCode).toBe(1);
    }
    return winner;
  }

  /** Starts the server from a separate process. */
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
