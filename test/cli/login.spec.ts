import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { CliUser, userCodeOf } from '../support/cli.js';
import { decide } from '../support/device-flow.js';
import { teamOwner } from '../support/owners.js';

let app: TestApp;
let ada: Agent;
let user: CliUser;

beforeAll(async () => {
  app = await startApp();
  ada = await app.as('ada');
});
afterAll(() => app.close());
beforeEach(async () => {
  user = await CliUser.create();
});

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const works = async (secret: string) =>
  (await app.app.get(KeyAuthenticator).authenticate(secret)) !== undefined;
const storedKey = async (profile = 'default') =>
  JSON.parse(await readFile(user.file, 'utf8')).profiles[profile].key as string;

it('prints prompts on standard error and the result on standard output, and stores the key privately', async () => {
  const { code, stdout, stderr } = await user.login(app.url, ada);
  const key = await storedKey();
  expect(code).toBe(0);
  expect(stderr).toMatch(/^http:\/\/\S+\/auth\/device$/m);
  expect(stderr).toMatch(/^[A-Z]{4}-[A-Z]{4}$/m);
  expect(stdout).toBe(
    [
      `Logged in to ${app.url} as ada@example.com.`,
      'Owner: Personal',
      `Key: ${key.slice(0, 7)}…${key.slice(-4)}, stored in ${user.file}`,
      'Next: mintkeep run COMMAND, or eval "$(mintkeep env)"',
      '',
    ].join('\n'),
  );
  expect(stdout + stderr).not.toContain(key);
  expect([await mode(user.file), await mode(user.folder)]).toEqual(['600', '700']);
  expect(await works(key)).toBe(true);
}, 60_000);

it('prints two lines of JSON, names the key, and keeps the server and profile', async () => {
  const team = await teamOwner(app);
  const args = ['login', `${app.url}/`, '--json', '--name', 'build box', '--profile', 'ci'];
  const login = user.start(args);
  const userCode = await userCodeOf(login);
  await decide(team.admin, userCode, 'approve', { organization_id: team.organizationId }).expect(200);
  const { code, stdout } = await login.result;
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      verification_uri: expect.stringMatching(/\/auth\/device$/),
      verification_uri_complete: expect.stringContaining(userCode),
      user_code: userCode,
      expires_in: 600,
    },
    {
      server: app.url,
      account: `${team.user}@example.com`,
      owner: 'Acme',
      key: expect.stringMatching(/^mk_\w{4}…\w{4}$/),
      stored_in: user.file,
    },
  ]);
  const { body } = await team.admin.get(`${team.base}/keys`).expect(200);
  expect(body.keys).toEqual([
    expect.objectContaining({ name: 'build box', device: expect.objectContaining({ name: 'build box' }) }),
  ]);
  expect((await user.run(['token'])).code).toBe(4);
  expect((await user.run(['token'], { env: { MINTKEEP_PROFILE: 'ci' } })).stdout).toBe(
    `${await storedKey('ci')}\n`,
  );
}, 60_000);

it('a repeated login revokes the former key, and defaults to the last server', async () => {
  await user.login(app.url, ada);
  const former = await storedKey();
  await chmod(user.folder, 0o755);
  const login = user.start(['login']);
  await decide(ada, await userCodeOf(login), 'approve').expect(200);
  expect(await login.result).toMatchObject({ code: 0, stdout: expect.stringContaining(app.url) });
  const current = await storedKey();
  expect([await works(former), await works(current)]).toEqual([false, true]);
  expect(await mode(user.folder)).toBe('700');
}, 60_000);

it('warns if the former key cannot be revoked, and exits with 0', async () => {
  const former = {
    server: 'http://127.0.0.1:1',
    key: 'mk_former',
    account: null,
    owner: null,
    insecure: false,
  };
  await mkdir(user.folder, { recursive: true });
  const file = { version: 1, last_server: former.server, profiles: { default: former } };
  await writeFile(user.file, JSON.stringify(file), { mode: 0o600 });
  const { code, stderr } = await user.login(app.url, ada);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^mintkeep: the former key … could not be revoked: .+; revoke it in the dashboard$/m,
  );
  expect(await works(await storedKey())).toBe(true);
}, 60_000);

it('a denied login exits with 1 and stores nothing', async () => {
  const login = user.start(['login', app.url]);
  await decide(ada, await userCodeOf(login), 'deny').expect(200);
  const { code, stdout, stderr } = await login.result;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^mintkeep: the login was denied in the browser; run "mintkeep login" again/m);
  expect((await user.run(['token'])).code).toBe(4);
}, 60_000);

it('rejects a file that others may read, before the flow begins', async () => {
  await mkdir(user.folder, { recursive: true });
  await writeFile(user.file, '{"version":1,"profiles":{}}', { mode: 0o644 });
  for (const args of [['login', app.url], ['status'], ['token']]) {
    const { code, stdout, stderr } = await user.run(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `mintkeep: ${user.file} is open to other users (mode 644); run: chmod 600 ${user.file}\n`,
    );
  }
});

it('does not show the contents of a damaged file', async () => {
  await mkdir(user.folder, { recursive: true });
  await writeFile(user.file, '{"profiles": mk_secret', { mode: 0o600 });
  const { code, stderr } = await user.run(['status']);
  expect(code).toBe(1);
  expect(stderr).toBe(`mintkeep: ${user.file} is damaged; remove it and run "mintkeep login"\n`);
});

it.each([
  ['http://example.com', /plain http.*--insecure/],
  ['http://10.0.0.1:3000/a', /plain http.*--insecure/],
  ['ftp://localhost', /begins with ftp/],
  ['https://user:password@localhost', /user name/],
])('rejects the server %s', async (server, message) => {
  const { code, stderr } = await user.run(['login', server]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('password@');
});
