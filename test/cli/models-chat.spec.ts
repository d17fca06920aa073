import type { RequestListener, ServerResponse } from 'node:http';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { CliUser } from '../support/cli.js';
import type { CliResult } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';

const MODELS = {
  object: 'list',
  data: [
    { id: 'small', object: 'model', created: 1_700_000_000, owned_by: 'acme' },
    { id: 'large\u001b[2J', object: 'model', created: 0, owned_by: 'acme' },
  ],
};
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

let app: TestApp;
let ada: Agent;
let upstream: FakeUpstream;
let user: CliUser;
let env: { MINTKEEP_URL: string; MINTKEEP_API_KEY: string };

/** Reply to chats. */
let respond: RequestListener;
let bodies: { model: string; messages: object[] }[] = [];

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    if (request.url === '/v1/models') return void sendJson(response, 200, MODELS);
    let body = '';
    request.on('data', (text: Buffer) => (body += text.toString()));
    request.on('end', () => {
      bodies.push(JSON.parse(body));
      respond(request, response);
    });
  });
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  ada = await app.as('ada');
  const fields = { name: 'main', base_url: `${upstream.url}/v1`, api_key: 'sk-12345678' };
  await ada.post('/me/upstreams').send(fields).expect(201);
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(async () => {
  user = await CliUser.create();
  const { body: key } = await ada.post('/me/keys').send({ name: 'cli' }).expect(201);
  env = { MINTKEEP_URL: app.url, MINTKEEP_API_KEY: key.api_key };
  bodies = [];
  respond = stream(chunk('Hel'), chunk('lo!'), finish, usageChunk, '[DONE]');
});

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

const chunk = (content: string) => JSON.stringify({ choices: [{ delta: { content } }] });
const finish = JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] });
const usageChunk = JSON.stringify({ choices: [], usage: { ...USAGE, cost: 0.0125 } });
const stream =
  (...events: string[]): RequestListener =>
  (_, response) => {
    response.setHeader('Content-Type', 'text/event-stream');
    response.end(events.map((data) => `data: ${data}\n\n`).join(''));
  };

const run = (args: string[], input?: string): Promise<CliResult> => user.run(args, { env, input });

describe('models', () => {
  it('prints one id per line, without control sequences', async () => {
    expect(await run(['models'])).toEqual({ code: 0, stdout: 'small\nlarge [2J\n', stderr: '' });
  });

  it('prints the list as JSON', async () => {
    const { code, stdout } = await run(['models', '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ data: expect.anything() })]);
    expect(JSON.parse(stdout).data[0]).toMatchObject({ id: 'small', owned_by: 'acme' });
  });

  it('prints a table on a terminal', async () => {
    const { code, stdout } = await user.startInTerminal(['models'], env).result;
    expect(code).toBe(0);
    expect(stdout.split(/\r?\n/).slice(0, 2)).toEqual([
      expect.stringMatching(/^Model\s+Owned by\s+Created$/),
      expect.stringMatching(/^small\s+acme\s+2023-11-14$/),
    ]);
  });

  it('leaves members empty that have another form on a terminal', async () => {
    const data = [
      { id: 'null', owned_by: null, created: null },
      { id: 'text', owned_by: ['x'], created: '2023-11-14' },
      { id: 'microseconds', owned_by: 'acme', created: 1_700_000_000_000_000 },
      { id: 'milliseconds', created: 1_700_000_000_000 },
      { id: 'seconds', owned_by: 'acme', created: 1_700_000_000 },
    ];
    const server = await startUpstream((_, response) => sendJson(response, 200, { object: 'list', data }));
    const variables = { MINTKEEP_URL: server.url, MINTKEEP_API_KEY: 'x' };
    const { code, stdout } = await user.startInTerminal(['models'], variables).result;
    await server.close();
    expect(code).toBe(0);
    const rows = stdout.trimEnd().split(/\r?\n/).slice(1);
    expect(rows.map((row) => row.split(/\s+/))).toEqual([
      ['null'],
      ['text'],
      ['microseconds', 'acme'],
      ['milliseconds'],
      ['seconds', 'acme', '2023-11-14'],
    ]);
  });
});

describe('chat', () => {
  it('streams the response of the first model', async () => {
    expect(await run(['chat', 'Hi'])).toEqual({ code: 0, stdout: 'Hello!\n', stderr: '' });
    expect(bodies).toEqual([
      expect.objectContaining({ model: 'small', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    ]);
  });

  it('writes text as it arrives', async () => {
    let last: ServerResponse | undefined;
    respond = (_, response) => {
      response.setHeader('Content-Type', 'text/event-stream').write(`data: ${chunk('first')}\n\n`);
      last = response;
    };
    const chat = user.start(['chat', '-m', 'x', 'Hi'], { env });
    await eventually(() => expect(chat.stdout()).toBe('first'));
    last!.end(`data: ${finish}\n\ndata: [DONE]\n\n`);
    expect((await chat.result).code).toBe(0);
  });

  it('appends standard input to the prompt after an empty line, and sends the system prompt', async () => {
    await run(['chat', '--model', 'large', '-s', 'Be brief.', 'Summarize'], 'line 1\nline 2\n');
    await run(['chat', '-m', 'large'], 'only input');
    await run(['chat', '-m', 'large', 'only prompt'], ' \n');
    expect(bodies.map(({ model, messages }) => [model, messages])).toEqual([
      [
        'large',
        [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Summarize\n\nline 1\nline 2\n' },
        ],
      ],
      ['large', [{ role: 'user', content: 'only input' }]],
      ['large', [{ role: 'user', content: 'only prompt' }]],
    ]);
  });

  it.each([[[]], [['']], [['-m', 'x', ' ']]])('exits with 2 without any text: %j', async (args) => {
    const { code, stdout, stderr } = await run(['chat', ...args], ' \n');
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/there is no prompt/)]);
    expect(bodies).toEqual([]);
  });

  it('prints one object with --json, and figures with --stats', async () => {
    const { code, stdout, stderr } = await run(['chat', '--json', '--stats', '-m', 'small', 'Hi']);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { model: 'small', text: 'Hello!', usage: { ...USAGE, cost: 0.0125 } },
    ]);
    expect(stderr).toMatch(
      /^tokens: 3 in, 2 out; time: \d.*s to the first text, \d.*s in total; cost: \$0.01\n$/,
    );
  });

  it('reads a response that is no stream', async () => {
    respond = (_, response) =>
      sendJson(response, 200, { choices: [{ message: { content: 'At once.' } }], usage: USAGE });
    const { stdout } = await run(['chat', '--json', '-m', 'x', 'Hi']);
    expect(JSON.parse(stdout)).toEqual({ model: 'x', text: 'At once.', usage: USAGE });
  });

  it('joins the text of content parts, and leaves other parts out', async () => {
    const parts = (...content: unknown[]) => JSON.stringify({ choices: [{ delta: { content } }] });
    respond = stream(
      parts({ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }),
      parts(
        { type: 'text', text: 'Hel' },
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: 'lo' },
      ),
      parts({ type: 'text' }, null),
      chunk('!'),
      ...[finish, '[DONE]'],
    );
    expect(await run(['chat', '-m', 'x', 'Hi'])).toEqual({ code: 0, stdout: 'Hello!\n', stderr: '' });
  });

  it('leaves control sequences to pipes and removes them on a terminal', async () => {
    respond = stream(chunk('a\u001b[31mb'), finish, '[DONE]');
    expect((await run(['chat', '-m', 'x', 'Hi'])).stdout).toBe('a\u001b[31mb\n');
    const chat = user.startInTerminal(['chat', '-m', 'x', 'Hi'], env);
    expect((await chat.result).stdout).toMatch(/^a\[31mb\r?\n$/);
  });

  it.each<[string, RequestListener, RegExp]>([
    [
      'a rejection',
      (_, response) => sendJson(response, 400, { error: { message: 'bad\nmodel' } }),
      /the server responded with 400: bad model; change the request/,
    ],
    [
      "an upstream's rejection of its own key",
      (_, response) =>
        sendJson(response, 401, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } }),
      /the server responded with 401: Incorrect API key; change the request, or ask an admin/,
    ],
    [
      'an error page with 401',
      (_, response) => response.writeHead(401).end('<h1>'),
      /responded with 401; change the request, or ask an admin/,
    ],
    [
      'a rejection without a message',
      (_, response) => sendJson(response, 400, { error: { message: { text: 'x' } } }),
      /responded with 400; change the request/,
    ],
    [
      'a rate limit',
      (_, response) => {
        response.setHeader('Retry-After', '7');
        sendJson(response, 429, { error: { message: 'slow down' } });
      },
      /429: slow down; try again in 7 s/,
    ],
    [
      'an error page',
      (_, response) => response.writeHead(500).end('<h1>'),
      /responded with 500; try again later/,
    ],
    [
      'an error in the stream',
      stream(chunk('Hel'), JSON.stringify({ error: { message: 'overloaded' } })),
      /the response failed: overloaded; try again/,
    ],
    ['an invalid event', stream('{'), /not JSON/],
  ])('exits with 1 after %s', async (_what, listener, message) => {
    respond = listener;
    const { code, stderr } = await run(['chat', '-m', 'x', 'Hi']);
    expect(code).toBe(1);
    expect(stderr.split('\n').slice(0, -1)).toEqual([expect.stringMatching(message)]);
  });

  it('advises to log in if the service rejects the key', async () => {
    const variables = { ...env, MINTKEEP_API_KEY: 'mk_unknown' };
    const { code, stderr } = await user.run(['chat', '-m', 'x', 'Hi'], { env: variables });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/does not accept the key: .*; run "mintkeep login"/),
    ]);
    expect(bodies).toEqual([]);
  });

  it('exits with 1 if the response is cut off', async () => {
    respond = (_, response) => {
      response.setHeader('Content-Type', 'text/event-stream').write(`data: ${chunk('Hel')}\n\n`);
      setImmediate(() => response.destroy());
    };
    const { code, stdout, stderr } = await run(['chat', '-m', 'x', 'Hi']);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^(Hel)?\n?$/)]);
    expect(stderr).toMatch(/^mintkeep: .*; try again/);
  });

  it('Ctrl-C stops the response and exits with 130', async () => {
    let isCancelled = false;
    respond = (_, response) => {
      response.setHeader('Content-Type', 'text/event-stream').write(`data: ${chunk('first')}\n\n`);
      response.on('close', () => (isCancelled = true));
    };
    const chat = user.start(['chat', '-m', 'x', 'Hi'], { env });
    await eventually(() => expect(chat.stdout()).toBe('first'));
    chat.child.kill('SIGINT');
    expect(await chat.result).toEqual({ code: 130, stdout: 'first\n', stderr: '' });
    await eventually(() => expect(isCancelled).toBe(true));
  });

  it('ends quietly if the reader of its output has gone', async () => {
    respond = stream(...Array.from({ length: 2_000 }, () => chunk('x'.repeat(200))), finish, '[DONE]');
    const chat = user.start(['chat', '-m', 'x', 'Hi'], { env });
    chat.child.stdout!.destroy();
    expect(await chat.result).toMatchObject({ code: 0, stderr: '' });
  });
});
