import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { useCli } from '../support/cli.js';

const LOADER = pathToFileURL(resolve('test/support/fake-keyring.mjs')).href;

const cli = useCli();

/** File of the keyring; it is locked while the file is away. */
let keyring: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  keyring = join(cli.user.home, 'keyring.json');
  await writeFile(keyring, '{}');
  env = { NODE_OPTIONS: `--import=${LOADER}`, FAKE_KEYRING: keyring, MINTKEEP_KEYRING: undefined };
});

const run = (...args: string[]) => cli.user.run(args, { env });
const login = (...args: string[]) => cli.user.login(cli.app.url, cli.ada, args, env);
const entries = async () => JSON.parse(await readFile(keyring, 'utf8')) as Record<string, string>;
const file = () => readFile(cli.user.file, 'utf8');
const lock = () => rename(keyring, `${keyring}.away`);
const unlock = () => rename(`${keyring}.away`, keyring);

it('stores the key in the keyring of a secret service only, and says so', async () => {
  const { code, stdout, stderr } = await login();
  const [[name, key]] = Object.entries(await entries()) as [[string, string]];
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Key: mk_\w{4}…\w{4}, stored in the keyring$/m)]);
  expect(name).toMatch(/^mintkeep [\da-f-]{36} secret-service$/);
  expect((await file()) + stderr).not.toContain(key);
  expect((await run('token')).stdout).toBe(`${key}\n`);
  expect((await run('status')).stdout).toMatch(/^Stored in {2}the keyring$/m);
  expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({ stored_in: 'keyring' });
  expect(await run('logout')).toMatchObject({ code: 0, stderr: '' });
  expect([await entries(), await cli.works(key)]).toEqual([{}, false]);
});

it('a repeated login replaces the entry, and revokes the former key', async () => {
  await login();
  const [[formerName, former]] = Object.entries(await entries()) as [[string, string]];
  await login();
  const [[name, key], ...others] = Object.entries(await entries()) as [[string, string]];
  expect([others, name === formerName]).toEqual([[], false]);
  expect([await cli.works(former), await cli.works(key)]).toEqual([false, true]);
});

it.each([
  ['is locked', { FAKE_KEYRING: '/nowhere' }],
  ['forgets its entries', { FAKE_KEYRING_FORGETS: '1' }],
])('falls back to the file if the keyring %s', async (_what, variables) => {
  env = { ...env, ...variables };
  const { code, stdout } = await login();
  expect([code, stdout]).toEqual([0, expect.stringContaining(`stored in ${cli.user.file}\n`)]);
  expect([await entries(), await file()]).toEqual([{}, expect.stringContaining('"key": "mk_')]);
  expect((await run('status')).code).toBe(0);
});

it('a keyring that is locked later is named; --force deletes the login', async () => {
  await login();
  await lock();
  for (const command of ['status', 'token', 'logout']) {
    const { code, stdout, stderr } = await run(command);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'mintkeep: the key is in the keyring, which is unavailable; unlock the keyring, or log in again\n',
    );
  }
  const forced = await run('logout', '--force');
  expect(forced).toMatchObject({ code: 0, stderr: expect.stringContaining('the key was not revoked') });
  expect((await run('status')).code).toBe(4);
});

it('a login with a locked keyring warns about the former key, and is stored in the file', async () => {
  await login();
  const former = Object.values(await entries())[0]!;
  await lock();
  const { code, stderr } = await login();
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^mintkeep: the former key is in the keyring, which is unavailable; revoke it/m),
  ]);
  await unlock();
  expect(await cli.works(former)).toBe(true);
  expect((await run('status')).stdout).toContain(`Stored in  ${cli.user.file}`);
});

it('a locked keyring does not forget that plain http was accepted', async () => {
  await mkdir(cli.user.folder, { recursive: true });
  const server = 'http://mintkeep.invalid';
  const profile = { server, keyring_entry: 'x', account: null, owner: null, insecure: true };
  await writeFile(cli.user.file, JSON.stringify({ version: 1, profiles: { default: profile } }), {
    mode: 0o600,
  });
  await lock();
  const { code, stderr } = await run('login', server);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`mintkeep: cannot reach ${server}`)]);
  expect((await run('login', 'http://other.invalid')).code).toBe(2);
});

it.each([[[]], [['--all']]])('logout %j removes a login whose key is gone from the keyring', async (args) => {
  await login();
  await writeFile(keyring, '{}');
  expect((await run('status')).code).toBe(4);
  expect(await run('logout', ...args)).toEqual({
    code: 0,
    stdout: 'Deleted the login from this machine.\n',
    stderr: 'mintkeep: the key is gone from the keyring and was not revoked; revoke it in the dashboard\n',
  });
  expect((await run('logout', ...args)).code).toBe(4);
});
