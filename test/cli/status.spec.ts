import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { useCli } from '../support/cli.js';
import { startUpstream } from '../support/fake-upstream.js';
import { freePort } from '../support/free-port.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { recordAll, usageRecord } from '../support/usage.js';

const cli = useCli();

const mint = async (): Promise<string> => (await cli.ada.post('/me/keys').send({}).expect(201)).body.api_key;

describe('no login', () => {
  it.each([
    ['status'],
    ['status --json'],
    ['logout'],
    ['logout --all'],
    ['logout --force'],
    ['token'],
    ['env'],
  ])('%s exits with 4', async (command) => {
    const { code, stdout, stderr } = await cli.user.run(command.split(' '));
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toBe('mintkeep: not logged in; run "mintkeep login"\n');
  });

  it.each([['run true'], ['models'], ['chat hello'], ['usage']])('%s exits with 4', async (command) => {
    expect((await cli.user.run(command.split(' '))).code).toBe(4);
  });

  it('names the profile', async () => {
    const { code, stderr } = await cli.user.run(['status', '--profile', 'work']);
    expect(code).toBe(4);
    expect(stderr).toMatch('not logged in with the profile work; run "mintkeep login --profile work"');
  });

  it.each(['', '../x', '__proto__', 'a b', 'x'.repeat(65)])('rejects the profile %j', async (profile) => {
    expect((await cli.user.run(['status', '--profile', profile])).code).toBe(2);
  });
});

describe('a stored login', () => {
  let key: string;

  beforeEach(async () => {
    await cli.user.login(cli.app.url, cli.ada);
    key = (await cli.user.run(['token'])).stdout.trimEnd();
  });

  it('status shows the login, and whether the key works; logout revokes it', async () => {
    const shown = await cli.user.run(['status']);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout.split('\n')).toEqual([
      `Server     ${cli.app.url}`,
      'Account    ada@example.com',
      'Owner      Personal (personal)',
      expect.stringMatching(/^Key {8}mk_\w{4}…\w{4} \(mintkeep-cli\)$/),
      `Stored in  ${cli.user.file}`,
      'Expires    never',
      'Limits     none',
      'Works      yes',
      '',
    ]);
    const asJson = JSON.parse((await cli.user.run(['status', '--json'])).stdout);
    expect(asJson).toMatchObject({
      ...{ active: true, username: 'ada@example.com', client_id: 'device' },
      ...{ server: cli.app.url, stored_in: cli.user.file, works: true },
    });
    expect(await cli.user.run(['logout'])).toEqual({
      code: 0,
      stdout: `Logged out from ${cli.app.url}.\n`,
      stderr: '',
    });
    expect(await cli.works(key)).toBe(false);
    expect(await readFile(cli.user.file, 'utf8')).not.toContain('mk_');
    expect((await cli.user.run(['logout'])).code).toBe(4);
  });

  it('status shows the limits of the key and what remains', async () => {
    const { key: used, organization } = JSON.parse((await cli.user.run(['status', '--json'])).stdout);
    const set = { requests_per_minute: 60, budget: { usd: 5, period: 'total' }, models: ['gpt-*'] };
    await cli.ada.put(`/me/keys/${used.id}/limits`).send(set).expect(200);
    const of = { key_id: used.id, user_id: 'ada', organization_id: organization.id };
    await recordAll(cli.app, [usageRecord({ ...of, cost_usd: 1.5 })]);
    const lines = (await cli.user.run(['status'])).stdout.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Requests {3}\d+ of 60 in the last minute, \d+ left$/),
        'Budget     $1.50 of $5.00 in total, $3.50 left',
        'Models     gpt-*',
      ]),
    );
  });

  it('status exits with 1 and advises to log in if the key was revoked', async () => {
    await cli.app.anonymous.post('/oauth/revoke').type('form').send({ token: key }).expect(200);
    const shown = await cli.user.run(['status']);
    expect([shown.code, shown.stdout]).toEqual([1, expect.stringMatching(/^Works {6}no$/m)]);
    expect(shown.stderr).toMatch(/^mintkeep: .*revoked.*; run "mintkeep login"$/m);
    const asJson = await cli.user.run(['status', '--json']);
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
      1,
      { active: false, server: cli.app.url, stored_in: cli.user.file, works: false },
    ]);
    expect((await cli.user.run(['models'])).stderr).toContain('run "mintkeep login"');
    expect((await cli.user.run(['logout'])).code).toBe(0); // the server accepts revoked keys
  });

  it('logout --all revokes the keys of all profiles', async () => {
    await cli.user.login(cli.app.url, cli.ada, ['--profile', 'work']);
    const other = (await cli.user.run(['token', '--profile', 'work'])).stdout.trimEnd();
    expect(other).not.toBe(key);
    expect((await cli.user.run(['logout', '--all'])).code).toBe(0);
    expect([await cli.works(key), await cli.works(other)]).toEqual([false, false]);
    expect((await cli.user.run(['status', '--profile', 'work'])).code).toBe(4);
  });
});

it('status shows what is known here if the server is unreachable', async () => {
  const server = `http://127.0.0.1:${await freePort()}`;
  const key = `mk_${'a1B2'.repeat(10)}c3`;
  await mkdir(cli.user.folder, { recursive: true });
  const profile = { server, key, account: 'ada@example.com', owner: 'Acme', insecure: false };
  const file = { version: 1, profiles: { default: profile } };
  await writeFile(cli.user.file, JSON.stringify(file), { mode: 0o600 });
  const shown = await cli.user.run(['status']);
  expect([shown.code, shown.stderr]).toEqual([1, expect.stringMatching(/^mintkeep: cannot reach/)]);
  expect(shown.stdout.split('\n')).toEqual([
    `Server     ${server}`,
    'Account    ada@example.com',
    'Owner      Acme',
    'Key        mk_a1B2…B2c3',
    `Stored in  ${cli.user.file}`,
    'Works      no',
    '',
  ]);
  const asJson = await cli.user.run(['status', '--json']);
  expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
    1,
    {
      ...{ server, account: 'ada@example.com', owner: 'Acme', key: 'mk_a1B2…B2c3' },
      ...{ stored_in: cli.user.file, works: false },
    },
  ]);
  expect(asJson.stderr).toMatch(/^mintkeep: cannot reach/);
});

describe('logout from a server that is down', () => {
  let down: FakeUpstream;

  beforeEach(async () => {
    down = await startUpstream((_, response) => response.writeHead(503).end());
    await mkdir(cli.user.folder, { recursive: true });
    const profile = { server: down.url, key: await mint(), account: null, owner: null, insecure: false };
    const file = { version: 1, profiles: { default: profile, work: { ...profile, server: cli.app.url } } };
    await writeFile(cli.user.file, JSON.stringify(file), { mode: 0o600 });
  });
  afterEach(() => down.close());

  it('fails and keeps the key; --force deletes it', async () => {
    const { code, stdout, stderr } = await cli.user.run(['logout']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /responded with 503; try again later, or pass --force to delete the key only here/,
    );
    expect((await cli.user.run(['token'])).code).toBe(0);
    const forced = await cli.user.run(['logout', '--force']);
    expect(forced).toMatchObject({ code: 0, stdout: 'Deleted the key from this machine.\n' });
    expect(forced.stderr).toMatch(/the key was not revoked: .*; revoke it in the dashboard/);
    expect((await cli.user.run(['token'])).code).toBe(4);
  });

  it('--all logs out from the others, and exits with 1', async () => {
    const key = (await cli.user.run(['token', '--profile', 'work'])).stdout.trimEnd();
    const { code, stderr } = await cli.user.run(['logout', '--all']);
    expect([code, await cli.works(key)]).toEqual([1, false]);
    expect(stderr).toMatch(/^mintkeep: profile default: /);
    expect((await cli.user.run(['token'])).code).toBe(0);
    expect((await cli.user.run(['token', '--profile', 'work'])).code).toBe(4);
  });
});

describe('the environment', () => {
  it('overrides profiles', async () => {
    const env = { MINTKEEP_URL: `${cli.app.url}/`, MINTKEEP_API_KEY: await mint(), MINTKEEP_PROFILE: 'work' };
    const { code, stdout } = await cli.user.run(['status', '--json'], { env });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ server: cli.app.url, stored_in: 'environment', works: true }),
    ]);
    expect((await cli.user.run(['token'], { env })).stdout).toBe(`${env.MINTKEEP_API_KEY}\n`);
  });

  it.each([
    [{ MINTKEEP_URL: 'https://x' }, /MINTKEEP_URL is set without MINTKEEP_API_KEY/],
    [{ MINTKEEP_API_KEY: 'x' }, /MINTKEEP_API_KEY is set without MINTKEEP_URL/],
    [{ MINTKEEP_API_KEY: 'x', MINTKEEP_URL: 'http://example.com' }, /plain http.*MINTKEEP_INSECURE=1/],
    [{ MINTKEEP_API_KEY: 'x', MINTKEEP_URL: 'ftp://x' }, /begins with ftp/],
    [{ MINTKEEP_API_KEY: 'a\nb', MINTKEEP_URL: 'http://localhost:1' }, /contains characters that no key has/],
  ])('%j exits with 2', async (env, message) => {
    const { code, stdout, stderr } = await cli.user.run(['status'], { env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('a b');
  });

  it('accepts plain http if MINTKEEP_INSECURE=1 says so', async () => {
    const env = { MINTKEEP_API_KEY: 'x', MINTKEEP_URL: 'http://example.com', MINTKEEP_INSECURE: '1' };
    expect((await cli.user.run(['token'], { env })).code).toBe(0);
  });
});
