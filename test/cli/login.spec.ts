import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { useCli, userCodeOf } from '../support/cli.js';
import { decide } from '../support/device-flow.js';
import { teamOwner } from '../support/owners.js';

const cli = useCli();

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const storedKey = async (profile = 'default') =>
  JSON.parse(await readFile(cli.user.file, 'utf8')).profiles[profile].key as string;

it('prints prompts on standard error and the result on standard output, and stores the key privately', async () => {
  const { code, stdout, stderr } = await cli.user.login(cli.app.url, cli.ada);
  const key = await storedKey();
  expect(code).toBe(0);
  expect(stderr).toMatch(/^http:\/\/\S+\/auth\/device$/m);
  expect(stderr).toMatch(/^[A-Z]{4}-[A-Z]{4}$/m);
  expect(stdout).toBe(
    [
      `Logged in to ${cli.app.url} as ada@example.com.`,
      'Owner: Personal',
      `Key: ${key.slice(0, 7)}…${key.slice(-4)}, stored in ${cli.user.file}`,
      'Next: mintkeep run COMMAND, or eval "$(mintkeep env)"',
      '',
    ].join('\n'),
  );
  expect(stdout + stderr).not.toContain(key);
  expect([await mode(cli.user.file), await mode(cli.user.folder)]).toEqual(['600', '700']);
  expect(await cli.works(key)).toBe(true);
});

it('prints two lines of JSON, names the key, and keeps the server and profile', async () => {
  const team = await teamOwner(cli.app);
  const args = ['login', `${cli.app.url}/`, '--json', '--name', 'build box', '--profile', 'ci'];
  const login = cli.user.start(args);
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
      server: cli.app.url,
      account: `${team.user}@example.com`,
      owner: 'Acme',
      key: expect.stringMatching(/^mk_\w{4}…\w{4}$/),
      stored_in: cli.user.file,
    },
  ]);
  const { body } = await team.admin.get(`${team.base}/keys`).expect(200);
  expect(body.keys).toEqual([
    expect.objectContaining({ name: 'build box', device: expect.objectContaining({ name: 'build box' }) }),
  ]);
  expect((await cli.user.run(['token'])).code).toBe(4);
  expect((await cli.user.run(['token'], { env: { MINTKEEP_PROFILE: 'ci' } })).stdout).toBe(
    `${await storedKey('ci')}\n`,
  );
});

it('a repeated login revokes the former key, and defaults to the last server', async () => {
  await cli.user.login(cli.app.url, cli.ada);
  const former = await storedKey();
  await chmod(cli.user.folder, 0o755);
  const login = cli.user.start(['login']);
  await decide(cli.ada, await userCodeOf(login), 'approve').expect(200);
  expect(await login.result).toMatchObject({ code: 0, stdout: expect.stringContaining(cli.app.url) });
  const current = await storedKey();
  expect([await cli.works(former), await cli.works(current)]).toEqual([false, true]);
  expect(await mode(cli.user.folder)).toBe('700');
});

it('warns if the former key cannot be revoked, and exits with 0', async () => {
  const former = {
    server: 'http://127.0.0.1:1',
    key: 'mk_former',
    account: null,
    owner: null,
    insecure: false,
  };
  await mkdir(cli.user.folder, { recursive: true });
  const file = { version: 1, last_server: former.server, profiles: { default: former } };
  await writeFile(cli.user.file, JSON.stringify(file), { mode: 0o600 });
  const { code, stderr } = await cli.user.login(cli.app.url, cli.ada);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^mintkeep: the former key … could not be revoked: .+; revoke it in the dashboard$/m,
  );
  expect(await cli.works(await storedKey())).toBe(true);
});

it('a denied login exits with 1 and stores nothing', async () => {
  const login = cli.user.start(['login', cli.app.url]);
  await decide(cli.ada, await userCodeOf(login), 'deny').expect(200);
  const { code, stdout, stderr } = await login.result;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^mintkeep: the login was denied in the browser; run "mintkeep login" again/m);
  expect((await cli.user.run(['token'])).code).toBe(4);
});

it('rejects a file that others may read, before the flow begins', async () => {
  await mkdir(cli.user.folder, { recursive: true });
  await writeFile(cli.user.file, '{"version":1,"profiles":{}}', { mode: 0o644 });
  for (const args of [['login', cli.app.url], ['status'], ['token']]) {
    const { code, stdout, stderr } = await cli.user.run(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `mintkeep: ${cli.user.file} is open to other users (mode 644); run: chmod 600 ${cli.user.file}\n`,
    );
  }
});

it('does not show the contents of a damaged file', async () => {
  await mkdir(cli.user.folder, { recursive: true });
  await writeFile(cli.user.file, '{"profiles": mk_secret', { mode: 0o600 });
  const { code, stderr } = await cli.user.run(['status']);
  expect(code).toBe(1);
  expect(stderr).toBe(`mintkeep: ${cli.user.file} is damaged; remove it and run "mintkeep login"\n`);
});

const [address] = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ family, internal }) => family === 'IPv4' && !internal);

(address ? it : it.skip)('remembers --insecure for the profile and its server', async () => {
  const front = createServer((client) => {
    const service = connect(Number(new URL(cli.app.url).port), '127.0.0.1');
    client.pipe(service).pipe(client);
    client.on('error', () => service.destroy()).on('close', () => service.destroy());
    service.on('error', () => client.destroy());
  });
  await once(front.listen(0, address!.address), 'listening');
  const { port } = front.address() as AddressInfo;
  const server = `http://${address!.address}:${port}`;
  expect((await cli.user.run(['login', server])).code).toBe(2);
  expect((await cli.user.login(server, cli.ada, ['--insecure'])).code).toBe(0);
  expect(await cli.user.run(['status'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(server),
  });
  expect((await cli.user.run(['env'])).stdout).toContain(`MINTKEEP_URL='${server}'`);
  expect((await cli.user.login(server, cli.ada)).code).toBe(0);
  expect((await cli.user.run(['status'])).code).toBe(0);
  expect((await cli.user.run(['login', server, '--profile', 'other'])).code).toBe(2);
  expect((await cli.user.run(['login', `http://${address!.address}:1`])).code).toBe(2);
  front.close();
});

it.each([
  ['http://example.com', /plain http.*--insecure/],
  ['http://10.0.0.1:3000/a', /plain http.*--insecure/],
  ['ftp://localhost', /begins with ftp/],
  ['https://user:password@localhost', /user name/],
])('rejects the server %s', async (server, message) => {
  const { code, stderr } = await cli.user.run(['login', server]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('password@');
});
