import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';

type Json = Record<string, unknown>;

let app: TestApp;
let document: Json;
let owner: TestOwner;
beforeAll(async () => {
  app = await startApp();
  owner = await personalOwner(app);
  document = (await app.anonymous.get('/openapi.json').expect(200)).body;
});
afterAll(() => app.close());

/** Every object of the document, with its path. */
function* objects(node: unknown, path = '#'): Generator<[path: string, object: Json]> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield [path, node as Json];
  for (const [key, value] of Object.entries(node)) yield* objects(value, `${path}/${key}`);
}

const pathsOf = (matches: (object: Json) => boolean) =>
  [...objects(document)].filter(([, object]) => matches(object)).map(([path]) => path);

describe('a construct that generators of clients do not support', () => {
  it('is not in the document: names that collide with constructors and test files in Go', () => {
    const { schemas } = document.components as { schemas: Json };
    const names = Object.keys(schemas);
    expect(names.filter((name) => name.startsWith('New') && names.includes(name.slice(3)))).toEqual([]);
    expect(names.filter((name) => name.endsWith('Test'))).toEqual([]);
  });

  it('is not in the document: a pattern beside a date-time', () => {
    expect(pathsOf(({ format, pattern }) => format === 'date-time' && pattern !== undefined)).toEqual([]);
  });

  it('is not in the document: an object in a list of types, and a lone null', () => {
    expect(pathsOf(({ type }) => Array.isArray(type) && type.includes('object'))).toEqual([]);
    const lone = pathsOf(({ type }) => type === 'null').filter((path) => !/\/oneOf\/\d$/.test(path));
    expect(lone).toEqual([]);
  });
});

it('describes 408, 431 and the credentials of every operation', () => {
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
    for (const [method, operation] of Object.entries(methods) as [string, Json][]) {
      const name = `${method} ${path}`;
      const { responses, summary, description, operationId } = operation as Record<string, Json>;
      // Also without a body: the headers may arrive too late, or be too large.
      expect([name, Object.keys(responses!)]).toEqual([name, expect.arrayContaining(['408', '431'])]);
      expect([name, [summary, description, operationId].every(Boolean)]).toEqual([name, true]);
    }
  }
  const { get } = (document.paths as Record<string, Record<string, Json>>)['/auth/device']!;
  expect(get!.security).toEqual([{ sessionCookie: [] }, {}]);
});

it.each(['null', ' null\n', ''])(
  'takes the body %j of a route with an optional body for an absent one',
  async (body) => {
    const minted = await owner.admin.post('/me/keys').type('json').send(body).expect(201);
    expect(minted.body).toHaveProperty('api_key');
  },
);

describe('null for an absent body', () => {
  const send = (agent: Agent, path: string) => agent.post(path).type('json').send('null');

  it('mints a key of a team', async () => {
    const team = await teamOwner(app);
    const { body } = await send(team.admin, `${team.base}/keys`).expect(201);
    expect(body).toHaveProperty('api_key');
  });

  it('begins the device flow and approves it', async () => {
    const { body: codes } = await send(app.anonymous, '/auth/device/code').expect(200);
    expect(codes).toHaveProperty('user_code');
    await send(owner.admin, `/me/device-requests/${codes.user_code}/approve`).expect(200);
  });
});

it.each(['nul', 'null null', `null${' '.repeat(100)}x`, '[]', '1'])('rejects the body %j', async (body) => {
  await owner.admin.post('/me/keys').type('json').send(body).expect(400);
});

it('rejects null where a body is required', async () => {
  await owner.admin.post('/me/projects').type('json').send('null').expect(400);
});

it('says that names, titles and tokens must not contain U+0000, and rejects it', async () => {
  const { schemas } = document.components as {
    schemas: Record<string, { properties: Record<string, Json> }>;
  };
  const patterns = [
    schemas.CreateProject!.properties.name,
    schemas.CreateDocument!.properties.title,
    schemas.InvitationToken!.properties.token,
  ].map((schema) => new RegExp(schema!.pattern as string, 'u'));
  for (const pattern of patterns) expect([pattern.test('a b'), pattern.test('a\0b')]).toEqual([true, false]);
  const { body } = await owner.admin.post('/me/projects').send({ name: 'a\0b' }).expect(400);
  expect(body.error.message).toContain('U+0000');
  const { body: project } = await owner.admin.post('/me/projects').send({ name: 'Titles' }).expect(201);
  const fields = { title: 'a\0b', slug: 'title', content: '' };
  const rejected = await owner.admin.post(`/me/projects/${project.id}/documents`).send(fields).expect(400);
  expect(rejected.body.error.message).toBe(
    'title must be a string of 1 to 255 characters without U+0000 or lone surrogates',
  );
});
