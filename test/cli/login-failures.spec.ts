import { writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CliUser } from '../support/cli.js';
import type { CliResult } from '../support/cli.js';
import { freePort } from '../support/free-port.js';

const KEY = `mk_${'a1B2'.repeat(10)}c3`;

let user: CliUser;
let closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  user = await CliUser.create();
});
afterEach(async () => {
  await Promise.all(closers.map((close) => close()));
  closers = [];
});

async function serve(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Reply = (response: ServerResponse, request: IncomingMessage) => unknown;

const json =
  (status: number, body: object): Reply =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
const oauthError = (error: string): Reply => json(400, { error, error_description: `the error ${error}` });
const page =
  (status: number, headers = {}): Reply =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end('<h1>proxy error</h1>');
const unanswered: Reply = () => undefined;
const closed: Reply = (_, { socket }) => socket.destroy();
const token = json(200, { access_token: KEY, token_type: 'Bearer' });
const codes = (fields: object = {}): Reply =>
  json(200, {
    device_code: 'the-device-code',
    user_code: 'WDJB-MJHT',
    verification_uri: 'https://mint.example.com/auth/device',
    expires_in: 60,
    interval: 0.05,
    ...fields,
  });

/** Times of the polls of the last login. */
let polls: number[] = [];

/** Logs in at a server that replies to the polls in turn; the last reply repeats. */
async function loginWith(replies: readonly Reply[], begin: Reply = codes(), path = ''): Promise<CliResult> {
  polls = [];
  const url = await serve((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    if (pathname === `${path}/oauth/device_authorization`) return void begin(response, request);
    if (pathname === `${path}/oauth/token`) {
      const reply = replies[Math.min(polls.length, replies.length - 1)]!;
      polls.push(performance.now());
      return void reply(response, request);
    }
    if (pathname === `${path}/oauth/introspect`)
      return void json(200, { username: 'ada@example.com', organization: { name: 'Ada' } })(
        response,
        request,
      );
    page(404)(response, request);
  });
  return user.run(['login', `${url}${path}`, '--no-browser']);
}

it('polls again after errors of the network and of the server', async () => {
  const pending = oauthError('authorization_pending');
  const result = await loginWith([closed, page(502), pending, page(503), page(429), closed, token]);
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('as ada@example.com') });
  expect(polls).toHaveLength(7);
});

it('waits 5 s longer after slow_down', async () => {
  const { code } = await loginWith([oauthError('slow_down'), token]);
  expect(code).toBe(0);
  expect(polls[1]! - polls[0]!).toBeGreaterThan(5_000);
});

it('keeps a path in the address', async () => {
  const { code, stdout } = await loginWith([token], codes(), '/apps/mint');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Logged in to http:\/\/[\d.:]+\/apps\/mint as/)]);
  expect((await user.run(['env', '--shell', 'json'])).stdout).toMatch(/\/apps\/mint\/v1"/);
});

it.each([
  ['denied', oauthError('access_denied'), /the login was denied in the browser; run "mintkeep login" again/],
  ['expired', oauthError('expired_token'), /the code has expired before it was approved; run/],
  ['unknown', oauthError('invalid_grant'), /the server does not know the code any more; run/],
  ['other', oauthError('invalid_request'), /rejected the login: the error invalid_request; run/],
  ['a page', page(200), /sent an unexpected response; run/],
])('exits with 1 on the poll result "%s"', async (_what, reply, message) => {
  const { code, stdout, stderr } = await loginWith([reply]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trimEnd().split('\n').at(-1)).toMatch(message);
});

it('ends when the code expires during a poll, and says why the poll before failed', async () => {
  // Long enough for the first poll on a busy machine, and shorter than the timeout of a poll (15 s).
  const { code, stderr } = await loginWith([page(500), unanswered], codes({ expires_in: 12 }));
  expect(code).toBe(1);
  expect(stderr).toMatch(/the code has expired: the server responded with 500; run "mintkeep login" again/);
});

it.each([
  ['a server without mintkeep', page(404), /is not a mintkeep service; check the address/],
  ['a failing server', page(503), /responded with 503; try again later/],
  ['too many logins', oauthError('rate_limited'), /rejected the login/],
  ['429', json(429, { error: 'rate_limited' }), /too many logins from this address; try again in a minute/],
  ['a dead connection', closed, /cannot reach http:\/\/[\d.:]+: the connection was closed; /],
])('%s exits with 1', async (_what, begin, message) => {
  const { code, stdout, stderr } = await loginWith([token], begin);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(message);
  await expect(stat(user.file)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('a rejected connection exits with 1', async () => {
  const server = `http://127.0.0.1:${await freePort()}`;
  const { code, stderr } = await user.run(['login', server]);
  expect(code).toBe(1);
  expect(stderr).toBe(
    `mintkeep: cannot reach ${server}: the connection was refused; ` +
      'check the address and your connection, then try again\n',
  );
});

it('shows no control sequences of the server', async () => {
  const { stderr } = await loginWith(
    [oauthError('access_denied')],
    codes({ user_code: 'A\u001b]0;x\u0007B', verification_uri: 'https://x/\u001b[2J' }),
  );
  // eslint-disable-next-line no-control-regex
  expect(stderr).not.toMatch(/[\u001b\u0007]/);
});

it('revokes a new key that cannot be stored', async () => {
  const revoked: string[] = [];
  const url = await serve((request, response) => {
    let body = '';
    request.on('data', (text: Buffer) => (body += text.toString()));
    request.on('end', () => {
      if (request.url === '/oauth/device_authorization') return codes()(response, request);
      if (request.url === '/oauth/token') {
        writeFileSync(join(user.home, '.config'), 'a file in the place of the folder');
        return token(response, request);
      }
      if (request.url === '/oauth/revoke') revoked.push(new URLSearchParams(body).get('token')!);
      page(request.url === '/oauth/revoke' ? 200 : 404)(response, request);
    });
  });
  const { code, stdout, stderr } = await user.run(['login', url]);
  expect([code, stdout, revoked]).toEqual([1, '', [KEY]]);
  expect(stderr).toMatch(/mintkeep: \S+ cannot be used \(\w+\); check its permissions/);
  expect(stderr).not.toContain(KEY);
});

it('a folder that cannot be read ends the login before the flow', async () => {
  const env = { XDG_CONFIG_HOME: '/dev/null' };
  const { code, stderr } = await user.run(['login', 'http://localhost'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^mintkeep: \/dev\/null\/mintkeep\S+ cannot be used \(ENOTDIR\); check its permissions/,
  );
});
