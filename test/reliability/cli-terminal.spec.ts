import type { IncomingMessage, ServerResponse } from 'node:http';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { CliUser, stripColours, userCodeOf } from '../support/cli.js';
import type { CliProcess } from '../support/cli.js';
import { decide } from '../support/device-flow.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { sessionFor } from '../support/sessions.js';

const CTRL_C = '\u0003';

let app: TestApp;
let user: CliUser;
/** Environment with a "browser" that writes down the address it is to open. */
let env: { BROWSER: string };
let opened: string;

beforeAll(async () => {
  app = await startApp({ DEVICE_CODES_PER_MINUTE: '1000' });
});
afterAll(() => app.close());
beforeEach(async () => {
  user = await CliUser.create();
  opened = join(user.home, 'opened');
  const script = join(user.home, 'browser.sh');
  await writeFile(
    script,
    `#!/bin/sh\nprintf %s "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
  );
  await chmod(script, 0o755);
  env = { BROWSER: script };
});

const openedAddress = (): Promise<string> => eventually(() => readFile(opened, 'utf8'));
const hasOpened = (): Promise<boolean> =>
  stat(opened).then(
    () => true,
    () => false,
  );
const textOf = ({ stdout }: CliProcess): string => stripColours(stdout());

describeWith(CHROMIUM, 'a login in a terminal', () => {
  it('opens the address, waits with the remaining time, and ends after the approval in Chromium', async () => {
    const login = user.startInTerminal(['login', app.url], env);
    const code = await userCodeOf(login);
    const address = new URL(await openedAddress());
    expect(address.searchParams.get('user_code')).toBe(code);
    await eventually(() => expect(textOf(login)).toMatch(/Waiting for approval, (10:00|9:\d\d) left/));
    const browser = await launchBrowser();
    try {
      const context = await browser.newContext();
      const cookie = { name: 'mintkeep_session', value: await sessionFor('ada'), url: app.url };
      await context.addCookies([cookie]);
      const page = await context.newPage();
      await page.goto(app.url + address.pathname + address.search);
      expect(await page.locator('.code').textContent()).toBe(code);
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Approved');
    } finally {
      await browser.close();
    }
    expect((await login.result).code).toBe(0);
    expect(textOf(login)).toContain(`Logged in to ${app.url} as ada@example.com.`);
    expect((await user.run(['status'])).code).toBe(0);
  });
});

it('does not open a browser with --no-browser, or if there is none', async () => {
  for (const [args, variables] of [
    [['--no-browser'], env],
    [[], { DISPLAY: '', BROWSER: '' }],
  ] as const) {
    const login = user.startInTerminal(['login', app.url, ...args], variables);
    await userCodeOf(login);
    await eventually(() => expect(textOf(login)).toContain('Waiting for approval'));
    login.child.stdin!.write(CTRL_C);
    expect((await login.result).code).toBe(130);
  }
  expect(await hasOpened()).toBe(false);
});

it('has no browser, spinner or colour without a terminal', async () => {
  const login = user.start(['login', app.url], { env, input: null });
  await decide(await app.as('ada'), await userCodeOf(login), 'approve').expect(200);
  const { code, stdout, stderr } = await login.result;
  expect(code).toBe(0);
  expect(stdout + stderr).not.toMatch(/\u001b|\r|Waiting/); // eslint-disable-line no-control-regex
  expect(await hasOpened()).toBe(false);
});

it('shows the address and the code as plain lines of a terminal', async () => {
  const login = user.startInTerminal(['login', app.url, '--no-browser']);
  const code = await userCodeOf(login);
  login.child.stdin!.write(CTRL_C);
  await login.result;
  const lines = login.stdout().split(/\r?\n/);
  expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/^http:\S+\/auth\/device$/), code]));
});

it('has no colour in a terminal with NO_COLOR', async () => {
  for (const [NO_COLOR, isBold] of [
    ['1', false],
    ['', true],
  ] as const) {
    const login = user.startInTerminal(['login', app.url, '--no-browser'], { NO_COLOR });
    await userCodeOf(login);
    login.child.stdin!.write(CTRL_C);
    await login.result;
    expect(login.stdout().includes('\u001b[1m')).toBe(isBold);
  }
});

describe('Ctrl-C', () => {
  afterEach(async () => {
    await expect(stat(user.file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('exits with 130 and stores nothing while a login waits for the approval in a terminal', async () => {
    const login = user.startInTerminal(['login', app.url, '--no-browser']);
    await userCodeOf(login);
    await eventually(() => expect(textOf(login)).toContain('Waiting for approval'));
    login.child.stdin!.write(CTRL_C);
    expect((await login.result).code).toBe(130);
    expect(textOf(login)).toMatch(
      /mintkeep: interrupted before the approval; run "mintkeep login" again\s*$/,
    );
  });

  it('exits with 130 and stores nothing while a login waits for the approval without a terminal', async () => {
    const login = user.start(['login', app.url]);
    await userCodeOf(login);
    login.child.kill('SIGINT');
    expect(await login.result).toMatchObject({ code: 130, stdout: '' });
  });

  it.each([
    ['the metadata', 1],
    ['the code', 2],
  ])(
    'exits with 130 and stores nothing while a login waits for %s of a slow server',
    async (_what, count) => {
      const silent = await startUpstream((_request, response) => {
        if (silent.requests.length < count) response.writeHead(404).end();
      });
      const login = user.start(['login', silent.url]);
      await eventually(() => expect(silent.requests).toHaveLength(count));
      login.child.kill('SIGINT');
      expect(await login.result).toMatchObject({ code: 130, stdout: '' });
      await silent.close();
    },
  );

  it.each([['status'], ['models'], ['usage'], ['logout'], ['chat hello']])(
    'exits with 130 and stores nothing while "%s" waits for a slow server',
    async (command) => {
      const silent = await startUpstream(() => undefined);
      const login = { MINTKEEP_URL: silent.url, MINTKEEP_API_KEY: 'x' };
      const waiting = user.start(command.split(' '), { env: login });
      await eventually(() => expect(silent.requests).toHaveLength(1));
      waiting.child.kill('SIGINT');
      expect(await waiting.result).toEqual({ code: 130, stdout: '', stderr: '' });
      await silent.close();
    },
  );
});

describe('Ctrl-C with a stored login and a server that does not respond any more', () => {
  const former = `mk_${'a1B2'.repeat(10)}c3`;

  beforeEach(async () => {
    await mkdir(user.folder, { recursive: true });
  });

  const store = (server: string) => {
    const profile = { server, key: former, account: null, owner: null, insecure: false };
    const file = { version: 1, last_server: server, profiles: { default: profile } };
    return writeFile(user.file, JSON.stringify(file), { mode: 0o600 });
  };

  it('ends a logout at once, and keeps the login', async () => {
    const silent = await startUpstream(() => undefined);
    await store(silent.url);
    const logout = user.start(['logout', '--force']);
    await eventually(() => expect(silent.requests).toHaveLength(1));
    logout.child.kill('SIGINT');
    // A wait for the end of the request would delete the login because of --force.
    expect(await logout.result).toEqual({ code: 130, stdout: '', stderr: '' });
    expect((await user.run(['token'])).stdout).toBe(`${former}\n`);
    await silent.close();
  });

  it.each([
    ['while it reads the account', '/oauth/introspect'],
    ['while it revokes the former key', '/oauth/revoke'],
  ])('ends a login at once %s, keeps the new key and names the former one', async (_when, hangsAt) => {
    const replies: Record<string, object> = {
      '/oauth/device_authorization': {
        ...{ device_code: 'the-device-code', user_code: 'WDJB-MJHT', expires_in: 60, interval: 0.05 },
        verification_uri: 'https://mint.example.com/auth/device',
      },
      '/oauth/token': { access_token: 'mk_new', token_type: 'Bearer' },
      '/oauth/introspect': { username: 'ada@example.com', organization: { name: 'Ada' } },
    };
    const server = await startUpstream(({ url = '' }, response) => {
      if (url === hangsAt) return;
      const status = replies[url] ? 200 : 404;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(replies[url] ?? {}));
    });
    await store(server.url);
    const login = user.start(['login', '--no-browser']);
    await eventually(() => expect(server.requests.at(-1)?.url).toBe(hangsAt));
    login.child.kill('SIGINT');
    const { code, stdout, stderr } = await login.result;
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/^mintkeep: interrupted after the new key was stored; run "mintkeep status"$/m);
    expect(stderr).toMatch(
      /^mintkeep: the former key mk_a1B2…B2c3 may still be valid; revoke it in the dashboard$/m,
    );
    expect((await user.run(['token'])).stdout).toBe('mk_new\n');
    await server.close();
  });
});

it('Ctrl-C after the approval keeps the key that the server has handed out', async () => {
  const ada = await app.as('ada');
  let isHandedOut = false;
  let release: () => void = () => undefined;
  const passOn = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url === '/oauth/introspect' && !isHandedOut) {
      isHandedOut = true;
      await new Promise<void>((resolve) => (release = resolve));
    }
    const { 'content-type': type = '', authorization = '' } = request.headers;
    const body = request.method === 'POST' ? Buffer.concat(chunks) : undefined;
    const headers = { 'content-type': type, ...(authorization && { authorization }) };
    const reply = await fetch(app.url + request.url!, { method: request.method, headers, body });
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
    response.end(await reply.text());
  };
  const front = await startUpstream((request, response) => void passOn(request, response));
  const login = user.start(['login', front.url]);
  await decide(ada, await userCodeOf(login), 'approve').expect(200);
  await eventually(() => expect(isHandedOut).toBe(true));
  login.child.kill('SIGINT');
  release();
  expect((await login.result).code).toBe(130);
  expect((await user.run(['status'])).code).toBe(0);
  await front.close();
});
