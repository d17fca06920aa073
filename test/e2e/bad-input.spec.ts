import { request as httpRequest } from 'node:http';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { sessionFor } from '../support/sessions.js';

const MIB = 1_048_576;
const UNKNOWN_ORGANIZATION = { error: { message: 'organization not found' } };

let app: TestApp;
let owner: TestOwner;
let projects: string;
let project: { id: number };
let documents: string;
let authorization: string;

beforeAll(async () => {
  app = await startApp();
  owner = await personalOwner(app);
  authorization = `Bearer ${await sessionFor(owner.user)}`;
  projects = `${owner.base}/projects`;
  project = (await owner.admin.post(projects).send({ name: 'Handbook' })).body;
  documents = `${projects}/${project.id}/documents`;
});
afterAll(() => app.close());

const untyped = (message: unknown) => ({ error: { message } });
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });

describe('ids in paths', () => {
  const malformed = [
    'abc',
    '-1',
    '+1',
    '1.0',
    '01',
    '1e3',
    '0x1',
    '1234567890123456',
    ' 1',
    '%00',
    '%',
    '%zz',
    'ü',
    '١',
  ];

  it.each(malformed)('rejects %j as malformed', async (id) => {
    for (const path of [
      `/me/projects/${id}`,
      `/me/projects/${id}/documents`,
      `/me/projects/${project.id}/documents/${id}`,
      `/me/organizations/${id}/projects`,
      `/me/organizations/999/projects/${id}`, // the 400 precedes the 404 of the organization
    ]) {
      const { status, body } = await owner.admin.get(encodeURI(path).replaceAll('%25', '%'));
      expect({ path, status, body }).toEqual({
        path,
        status: 400,
        body: untyped(expect.stringContaining('id')),
      });
    }
  });

  it.each(['0', '1', '999999999999999'])('accepts %j as well-formed', async (id) => {
    const stranger = await app.as('stranger');
    await stranger.get(`/me/projects/${id}`).expect(404, untyped('not found'));
    await stranger.get(`/me/organizations/${id}/projects`).expect(404, UNKNOWN_ORGANIZATION);
  });

  it('checks for a session before the format of an id', () =>
    app.anonymous.get('/me/projects/abc').expect(401));
});

describe('bodies', () => {
  const notJson = [
    ['nothing', ''],
    ['text', 'hello'],
    ['an open brace', '{"name": "x"'],
    ['a trailing comma', '{"name": "x",}'],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['null', 'null'],
    ['a byte order mark', '\ufeff{"name": "x"}'],
    ['Latin-1', Buffer.from('{"name": "é"}', 'latin1')],
    ['half a UTF-8 character', Buffer.from([...Buffer.from('{"name": "'), 0xe2, 0x82, ...Buffer.from('"}')])],
  ] as const;

  it.each(notJson)('rejects a body that is %s', async (_what, body) => {
    const { status, body: answer } = await send('POST', projects, body);
    expect(status).toBe(400);
    expect(answer).toEqual(untyped(expect.stringMatching(/^invalid JSON/)));
  });

  it.each(notJson)('responds with 401 to a body that is %s without a session', async (_what, body) => {
    expect((await send('POST', projects, body, { authorization: '' })).status).toBe(401);
  });

  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'x', ''])(
    'are JSON whatever the Content-Type says (%j)',
    async (type) => {
      const body = JSON.stringify({ name: `type ${type}` });
      expect((await send('POST', projects, body, { 'content-type': type })).status).toBe(201);
    },
  );

  it.each(['gzip', 'br', 'identity', 'x'])('rejects Content-Encoding %s with 415', async (encoding) => {
    const { status, body } = await send('POST', projects, '{"name": "x"}', { 'content-encoding': encoding });
    expect(status).toBe(415);
    expect(body).toEqual(untyped(expect.any(String)));
  });

  describe.each([
    ['with Content-Length', {}],
    ['chunked', { 'transfer-encoding': 'chunked' }],
  ])('%s', (_how, headers) => {
    const bodyOf = (bytes: number, slug: string) => {
      const frame = JSON.stringify({ title: 't', slug, content: '' });
      return JSON.stringify({ title: 't', slug, content: 'x'.repeat(bytes - frame.length) });
    };

    it('accepts a body of exactly 1 MiB', async () => {
      const slug = `full-${Object.keys(headers).length}`;
      const { status, body } = await send('POST', documents, bodyOf(MIB, slug), headers);
      expect(status).toBe(201);
      const fetched = await owner.admin.get(`${documents}/${String(body.id)}`).expect(200);
      expect(fetched.body.content).toBe(body.content);
    });

    it.each([1, 100_000, 5 * MIB])('rejects a body with %d more bytes', async (more) => {
      const { status, body } = await send('POST', documents, bodyOf(MIB + more, 'more'), headers);
      expect(status).toBe(400);
      expect(body).toEqual(untyped(expect.stringContaining('larger')));
    });
  });

  it('changes nothing after an incomplete body', async () => {
    const before = (await owner.admin.get(projects)).body;
    const head = `POST ${projects} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;
    const client = await connectRaw(app, head);
    client.socket.end('Content-Length: 100\r\n\r\n{"name": "cut');
    await client.closed;
    expect((await owner.admin.get(projects)).body).toEqual(before);
  });

  it('ignores unknown members', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const body = `{"name": "known", "id": 777777, "__proto__": {"x": 1}, "constructor": 1, "unknown": ${deep}, "\\ud800": "\\u0000"}`;
    const { status, body: created } = await send('POST', projects, body);
    expect(status).toBe(201);
    expect(created).toMatchObject({ name: 'known', description: '' });
    expect(created.id).not.toBe(777777);
  });

  it('uses the last of repeated members', async () => {
    const { body } = await send('POST', projects, '{"name": "first", "name": "second"}');
    expect(body.name).toBe('second');
  });
});

describe('members', () => {
  const wrongTypes = [1, true, {}, [], ['x'], { toString: 1 }] as unknown[];

  it.each([
    ...[
      '',
      ' ',
      '\u00a0\u2003\u3000\u0085\ufeff',
      '\n\t',
      'x'.repeat(256),
      '😀'.repeat(256),
      'a\0b',
      '\ud800',
      'a\udc00b',
    ],
    ...wrongTypes,
    null,
    undefined,
  ])('rejects %j as a name or title', async (value) => {
    expect((await owner.admin.post(projects).send({ name: value }).expect(400)).body).toEqual(
      typed('invalid_name'),
    );
    const document = { title: value, slug: 'ok' };
    expect((await owner.admin.post(documents).send(document).expect(400)).body).toEqual(
      typed('invalid_title'),
    );
  });

  it.each([
    'x',
    'x'.repeat(255),
    '😀'.repeat(255),
    ` ${'y'.repeat(255)} `,
    'a\u0001b',
    '"; DROP TABLE projects; --',
  ])('accepts %j as a name', async (name) => {
    const { body } = await owner.admin.post(projects).send({ name }).expect(201);
    expect(body.name).toBe(name.trim());
  });

  it.each([
    ...[
      '',
      'A',
      'a_b',
      'a b',
      '-a',
      'a-',
      '-',
      'a\n',
      '\na',
      'é',
      'a.b',
      'a'.repeat(81),
      ' a',
      'a\0',
      '\ud800',
    ],
    ...wrongTypes,
    null,
    undefined,
  ])('rejects %j as a slug', async (slug) => {
    const { body } = await owner.admin.post(documents).send({ title: 't', slug }).expect(400);
    expect(body).toEqual(typed('invalid_slug'));
  });

  it.each(['a', '0', 'a--b', 'a'.repeat(80), '1-2'])('accepts %j as a slug', async (slug) => {
    await owner.admin.post(documents).send({ title: 't', slug }).expect(201);
  });

  it.each([...wrongTypes, 'a\0b', '\ud800'])('rejects %j as a description', async (description) => {
    const { body } = await owner.admin.post(projects).send({ name: 'n', description }).expect(400);
    expect(body).toEqual(untyped(expect.stringContaining('description')));
  });

  it.each([...wrongTypes, '\ud800', 'x\udfff'])('rejects %j as content', async (content) => {
    const { body } = await owner.admin.post(documents).send({ title: 't', slug: 'c', content }).expect(400);
    expect(body).toEqual(untyped(expect.stringContaining('content')));
  });

  it('changes nothing after a PUT with a wrong member', async () => {
    const { body: before } = await owner.admin
      .post(documents)
      .send({ title: 't', slug: 'put', content: 'c' });
    const url = `${documents}/${before.id}`;
    for (const [change, type] of [
      [{ title: ' ', content: 'new' }, 'invalid_title'],
      [{ slug: 'A', title: 'new' }, 'invalid_slug'],
      [{ title: 7 }, 'invalid_title'],
    ] as const) {
      expect((await owner.admin.put(url).send(change).expect(400)).body).toEqual(typed(type));
    }
    await owner.admin.put(url).send({ content: 7, title: 'new' }).expect(400);
    await owner.admin.get(url).expect(200, before);
    const { body } = await owner.admin.put(`${projects}/${project.id}`).send({ name: '' }).expect(400);
    expect(body).toEqual(typed('invalid_name'));
  });

  it('rejects values that are nested as deep as the body limit allows', async () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000);
    const { status, body } = await send('POST', documents, `{"title": ${deep}, "slug": "s"}`);
    expect(status).toBe(400);
    expect(body).toEqual(typed('invalid_title'));
  });
});

describe('the order of checks', () => {
  it('is session, method, id, organization, role, body, resource, conflict', async () => {
    const team = await teamOwner(app);
    const stranger = await app.as('stranger');
    await app.anonymous.patch('/me/projects/abc').send('{').expect(401);
    await owner.admin.patch('/me/projects/abc').send('{').expect(405);
    await stranger.post('/me/organizations/abc/projects').send('{').expect(400);
    await stranger.post(`${team.base}/projects`).send('{').expect(404);
    await stranger.put(`${team.base}/projects/abc`).send('{').expect(400);
    expect((await owner.admin.put('/me/projects/999').send('{').expect(400)).body.error.message).toMatch(
      /^invalid JSON/,
    );
    await owner.admin.put('/me/projects/999').send({ name: 'Handbook' }).expect(404);
    await owner.admin.post('/me/projects/999/documents').send({ title: 't', slug: '-' }).expect(400);
    await owner.admin.post('/me/projects/999/documents').send({ title: 't', slug: 's' }).expect(404);
  });
});

describe('routes', () => {
  it.each(['/unknown', '/mee', '/projects'])('%s is unknown', (path) =>
    app.anonymous.get(path).expect(404, untyped('not found')),
  );

  it.each(['/me', '/me/', '/me/unknown', '/me/projects/1/unknown', '/me/%zz'])(
    '%s is unknown, which only a session is told',
    async (path) => {
      await app.anonymous.get(path).expect(401);
      await owner.admin.get(path).expect(404, untyped('not found'));
    },
  );

  it.each(['OPTIONS', 'GET'])('%s * is unknown', async (method) => {
    const answer = await (
      await connectRaw(app, `${method} * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    ).closed;
    expect(statusesIn(answer)).toEqual([404]);
    expect(answer).toContain('{"error":{"message":"not found"}}');
  });

  it.each([
    ['patch', '/me/projects', 'GET, HEAD, POST'],
    ['put', '/me/projects', 'GET, HEAD, POST'],
    ['delete', '/me/projects', 'GET, HEAD, POST'],
    ['options', '/me/projects', 'GET, HEAD, POST'],
    ['post', '/me/projects/1', 'DELETE, GET, HEAD, PUT'],
    ['patch', '/me/organizations/1/projects/1/documents/abc', 'DELETE, GET, HEAD, PUT'],
  ] as const)('%s %s is 405 with Allow, for sessions', async (method, path, allow) => {
    await app.anonymous[method](path).expect(401);
    const { headers, body } = await owner.admin[method](path).expect(405);
    expect(headers.allow).toBe(allow);
    expect(body).toEqual(untyped('method not allowed'));
  });

  it('responds with 405 without a session on public routes', async () => {
    const { headers } = await app.anonymous.post('/healthz').expect(405);
    expect(headers.allow).toBe('GET, HEAD');
  });

  it('responds to HEAD like to GET, without a body', async () => {
    const { headers } = await owner.admin.head(projects).expect(200);
    expect(Number(headers['content-length'])).toBeGreaterThan(0);
  });
});

it('closes a connection that sends something else than HTTP', async () => {
  const client = await connectRaw(app, 'nonsense\r\n\r\n');
  client.socket.allowHalfOpen = true;
  client.repeat('x', 50);
  expect(statusesIn(await client.closed)).toEqual([400]);
  // 20 a second until the end after 1 s: the client's bytes, unlike the time, do not depend on pauses of the machine.
  expect(client.socket.bytesWritten).toBeLessThan(200);
});

describe('request ids', () => {
  it.each(['a', 'A-b_c.9', 'x'.repeat(128)])('keeps the id %s of the request', async (id) => {
    for (const path of ['/healthz', '/unknown', '/me/projects']) {
      const { headers } = await app.anonymous.get(path).set('X-Request-Id', id);
      expect(headers['x-request-id']).toBe(id);
    }
  });

  it.each(['', 'a b', 'x'.repeat(129), 'ü', '<script>'])('replaces the id %j', async (id) => {
    const { headers } = await app.anonymous.get('/healthz').set('X-Request-Id', encodeURI(id));
    expect(headers['x-request-id']).toMatch(/^[\w-]{20,}$/);
  });

  it.each([
    ['what is not HTTP', 'nonsense\r\n\r\n'],
    ['who names no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['who names none for a key', 'GET /v1/models HTTP/1.1\r\n\r\n'],
  ])('are part of the response to %s', async (_, request) => {
    const answer = await (await connectRaw(app, request)).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/X-Request-Id: [\w-]{20,}/);
    expect(answer).toContain('{"error":{"message":"malformed request"}}');
  });

  it('are part of a response to HTTP/1.0 without a Host', async () => {
    const answer = await (await connectRaw(app, 'GET /healthz HTTP/1.0\r\n\r\n')).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('an unknown Expect header', () => {
  it.each(['/healthz', '/me/projects', '/v1/models'])('does not change the response of %s', async (path) => {
    const plain = await fetch(`${app.url}${path}`, { headers: { authorization } });
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close`;
    const answer = await (await connectRaw(app, `${head}\r\nExpect: the-best\r\n\r\n`)).closed;
    expect(statusesIn(answer)).toEqual([plain.status]);
    expect(answer).toMatch(/X-Request-Id: [\w-]{20,}/i);
  });
});

describe('100 Continue', () => {
  const head = (lines: string) =>
    `POST /me/projects HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n${lines}\r\n\r\n`;

  it('is sent before the body is read', async () => {
    const client = await connectRaw(app, head(`Authorization: ${authorization}\r\nContent-Length: 18`));
    await eventually(() => expect(statusesIn(client.text())).toEqual([100]));
    client.socket.write('{"name":"awaited"}');
    expect(statusesIn(await client.closed)).toEqual([100, 201]);
  });

  it.each([
    ['who has no session', () => 'Content-Length: 18', 401],
    ['who would send too much', () => `Authorization: ${authorization}\r\nContent-Length: 1048577`, 400],
    [
      'who encodes it',
      () => `Authorization: ${authorization}\r\nContent-Encoding: gzip\r\nContent-Length: 18`,
      415,
    ],
  ])('is not sent to %s', async (_what, lines, status) => {
    expect(statusesIn(await (await connectRaw(app, head(lines()))).closed)).toEqual([status]);
  });
});

/** Sends a request with exactly these bytes and headers. */
function send(
  method: string,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body as string);
    const length = headers['transfer-encoding'] ? {} : { 'content-length': bytes.length };
    const all = { authorization, ...length, ...headers };
    const outgoing = httpRequest(`${app.url}${path}`, { method, headers: all }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) }),
      );
    });
    outgoing.on('error', reject);
    for (let at = 0; at < bytes.length; at += 65_536) outgoing.write(bytes.subarray(at, at + 65_536));
    outgoing.end();
  });
}
