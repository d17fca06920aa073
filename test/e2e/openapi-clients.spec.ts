import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { personalOwner } from '../support/owners.js';
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

describe('what generators of clients do not support', () => {
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
      const { responses, requestBody, summary, description, operationId } = operation as Record<string, Json>;
      expect([name, '431' in responses!]).toEqual([name, true]);
      if (requestBody) expect([name, '408' in responses!]).toEqual([name, true]);
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

it.each(['nul', 'null null', `null${' '.repeat(100)}x`, '[]', '1'])('rejects the body %j', async (body) => {
  await owner.admin.post('/me/keys').type('json').send(body).expect(400);
});

it('rejects null where a body is required', async () => {
  await owner.admin.post('/me/projects').type('json').send('null').expect(400);
});

it('says that names and tokens must not contain U+0000, and rejects it', async () => {
  const { schemas } = document.components as {
    schemas: Record<string, { properties: Record<string, Json> }>;
  };
  const patterns = [schemas.CreateProject!.properties.name, schemas.InvitationToken!.properties.token].map(
    (schema) => new RegExp(schema!.pattern as string, 'u'),
  );
  for (const pattern of patterns) expect([pattern.test('a b'), pattern.test('a\0b')]).toEqual([true, false]);
  const { body } = await owner.admin.post('/me/projects').send({ name: 'a\0b' }).expect(400);
  expect(body.error.message).toContain('U+0000');
});
