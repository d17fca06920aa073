import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from '../../src/commands/run-command.js';
import { UpstreamsService } from '../../src/upstreams/upstreams.service.js';
import { startApp, testVariables } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { personalOwner } from '../support/owners.js';

const run = promisify(execFile);
const CLI = join(import.meta.dirname, '../../dist/cli.js');
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const API_KEY = 'sk-the-key-of-the-upstream';

let database: TestDatabase;
let dataDir: string;

beforeEach(async () => {
  database = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'mintkeep-cli-'));
});
afterEach(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true });
});

const cli = (args: string[], variables: NodeJS.ProcessEnv, folder: string) =>
  run(process.execPath, [CLI, ...args], {
    env: { ...process.env, ...testVariables(database.url, folder), ...variables },
  });

const apiKeys = async ({ app }: TestApp, organizationId: number) =>
  (await app.get(UpstreamsService, { strict: false }).findPool(organizationId)).map(({ apiKey }) => apiKey);

it('encrypts all API keys with the new key, so that the old key can be removed', async () => {
  const first = await startApp({ ENCRYPTION_KEYS: key(1) }, { database });
  const owner = await personalOwner(first);
  const upstream = { name: 'OpenAI', base_url: 'https://api.openai.com/v1', api_key: API_KEY };
  await owner.admin.post('/me/upstreams').send(upstream).expect(201);
  await first.close();

  const { stdout } = await cli(
    ['encryption:rotate'],
    { ENCRYPTION_KEYS: `${key(2)},${key(1)}` },
    first.dataDir,
  );
  expect(stdout).toBe('1 API keys re-encrypted\n');
  expect((await cli(['encryption:rotate'], { ENCRYPTION_KEYS: key(2) }, first.dataDir)).stdout).toMatch(
    /^0 /,
  );

  const second = await startApp({ ENCRYPTION_KEYS: key(2) }, { database });
  expect(await apiKeys(second, owner.organizationId)).toEqual([API_KEY]);
  await second.close();
});

it('exits with 0 after success, 1 after findings and 2 after an error', async () => {
  await mkdir(join(dataDir, 'objects/.tmp'), { recursive: true });
  const verified = await cli(['verify-storage'], {}, dataDir);
  expect(verified).toEqual({
    stdout: '0 documents and 0 objects checked\n0 wrong, 0 repaired\n',
    stderr: '', // the progress bar appears on terminals only
  });
  await mkdir(join(dataDir, 'objects/documents'));
  await writeFile(join(dataDir, 'objects/documents/7'), 'the body of nothing');
  await expect(cli(['verify-storage'], {}, dataDir)).rejects.toMatchObject({
    code: 1,
    stderr: '',
    stdout: expect.stringContaining('documents/7: a body without a document'),
  });
  const storage = { MINIO_ENDPOINT: 'http://127.0.0.1:1', MINIO_ACCESS_KEY: 'x', MINIO_SECRET_KEY: 'y' };
  await expect(cli(['verify-storage'], storage, dataDir)).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^MINIO_ENDPOINT: object storage: [^\n]+\n$/),
  });
  await expect(cli(['verify'], {}, dataDir)).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^unknown command verify\n\nusage: node dist\/cli.js/),
  });
});

describe('the command line', () => {
  const lines: string[] = [];
  const runHere = (args: string[], variables: NodeJS.ProcessEnv = {}) =>
    runCommand(args, { ...testVariables(database.url, dataDir), ...variables }, (line) => lines.push(line));

  beforeEach(() => {
    lines.length = 0;
  });

  it.each([
    ['no command', []],
    ['an unknown command', ['unknown']],
    ['an unknown flag', ['migrate', '--unknown']],
    ['a flag of another command', ['migrate', '--repair']],
    ['an unexpected argument', ['migrate', 'more']],
  ])('prints the usage after %s', async (_, args) => {
    await expect(runHere(args)).rejects.toThrow('usage: node dist/cli.js');
    expect(lines).toEqual([]);
  });

  it('rejects a data folder without a database', async () => {
    const verified = runHere(['verify-storage'], { DATABASE_URL: '' });
    await expect(verified).rejects.toThrow(`DATA_DIR ${dataDir} contains no database`);
  });

  it.each(['verify-storage', 'encryption:rotate'])('%s does not migrate a foreign database', async (name) => {
    const empty = await createDatabase({ empty: true });
    try {
      const verified = runHere([name], { DATABASE_URL: empty.url });
      await expect(verified).rejects.toThrow('the database of DATABASE_URL has no tables of mintkeep');
      expect(await empty.query(`SELECT * FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
    } finally {
      await empty.drop();
    }
  });

  it.each([[['--help']], [['-h']], [['help']], [['verify-storage', '--help']]])(
    'lists all commands with %j',
    async (args) => {
      expect(await runHere(args, { ENCRYPTION_KEYS: 'not even settings are needed' })).toBe(0);
      for (const name of ['migrate', 'verify-storage', '--repair', 'encryption:rotate'])
        expect(lines.join()).toContain(name);
    },
  );

  it('reports wrong settings and an unreachable database', async () => {
    await expect(runHere(['migrate'], { ENCRYPTION_KEYS: 'x' })).rejects.toThrow(/^ENCRYPTION_KEYS /);
    const unreachable = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    await expect(runHere(['migrate'], unreachable)).rejects.toMatchObject({
      message: 'the database (DATABASE_URL)',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('migrates an empty database, and changes nothing in an up-to-date one', async () => {
    const empty = await createDatabase({ empty: true });
    try {
      const migrations = await database.query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
      const names = migrations.map(({ name }) => name);
      expect(await runHere(['migrate'], { DATABASE_URL: empty.url })).toBe(0);
      expect(lines).toEqual([...names, `${names.length} migrations run`]);
      lines.length = 0;
      expect(await runHere(['migrate'], { DATABASE_URL: empty.url })).toBe(0);
      expect(lines).toEqual(['the database is up to date']);
    } finally {
      await empty.drop();
    }
  });
});
