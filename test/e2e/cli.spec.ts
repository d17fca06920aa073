import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const cli = (args: string[], variables: NodeJS.ProcessEnv, dataDir: string) =>
  run(process.execPath, [CLI, ...args], {
    env: { ...process.env, ...testVariables(database.url, dataDir), ...variables },
  });

const apiKeys = async ({ app }: TestApp, organizationId: number) =>
  (await app.get(UpstreamsService, { strict: false }).pool(organizationId)).map(({ apiKey }) => apiKey);

it('rotates the encryption: a new key first, then all under it, then without the old one', async () => {
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
}, 60_000);

it('says which commands there are', async () => {
  for (const args of [[], ['unknown']]) {
    await expect(cli(args, {}, '/nonexistent')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('usage'),
    });
  }
});
