import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Response } from 'supertest';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { closed, Contract } from '../support/contract.js';
import { cpuTimeMs } from '../support/cpu-time.js';
import { eventually } from '../support/eventually.js';
import { call } from '../support/proxy-client.js';
import { routesOf } from '../support/routes.js';

const OFFICIAL_SCHEMA = new URL('../support/openapi-3.1.schema.json', import.meta.url);

/** Parsed JSON of any type. */
type Json = Response['body'];

let app: TestApp;
let document: Json;

beforeAll(async () => {
  app = await startApp();
  const { body } = await app.anonymous.get('/openapi.json').expect(200);
  document = body;
});
afterAll(() => app.close());

interface Found {
  readonly name: string;
  readonly path: string;
  readonly method: string;
  readonly operation: Json;
}

function operations(): Found[] {
  return Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      method,
      operation,
    })),
  );
}

/** All objects in the document, at any depth. */
function objects(node: Json = document): Json[] {
  if (typeof node !== 'object' || node === null) return [];
  return [node, ...Object.values(node).flatMap((child) => objects(child))];
}

function validator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'media-range': true } });
  addFormats.default(ajv);
  return ajv;
}

describe('the OpenAPI document', () => {
  it('does not mention the development sign-in if it is off', () => {
    expect(JSON.stringify(document)).not.toMatch(/dev\/sign-in|Sign-in/);
  });

  it('names the session cookie that is configured', async () => {
    const other = await startApp({ SESSION_COOKIE_NAME: 'sb-session' });
    const { body } = await other.anonymous.get('/openapi.json').expect(200);
    await other.close();
    const names = [document, body].map((each) => each.components.securitySchemes.sessionCookie.name);
    expect(names).toEqual(['mintkeep_session', 'sb-session']);
  });

  it('says what a tool has to do after each error of the device flow', () => {
    const sections: string[] = document.info.description.split(/^## /m);
    const deviceFlow = sections.find((section) => section.startsWith('The device flow'));
    for (const path of ['/auth/device/code', '/auth/device/token'])
      for (const [status, { content }] of Object.entries<Json>(document.paths[path].post.responses))
        for (const { value } of Object.values<Json>(content['application/json'].examples ?? {}))
          expect(deviceFlow).toContain(
            value.error.type ? `${status} \`${value.error.type}\`` : `| ${status}`,
          );
  });

  it('matches the schema of OpenAPI 3.1', () => {
    const text = readFileSync(OFFICIAL_SCHEMA, 'utf8');
    // Ajv resolves the dynamic anchor wrongly; this schema has only one, so a static reference is equivalent
    const schema = JSON.parse(text.replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"'));
    const validate = validator().compile(schema);
    validate(document);
    expect(validate.errors).toBeNull();
  });

  it('has no dangling references', () => {
    const references = objects().flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []));
    expect(references.length).toBeGreaterThan(50);
    const resolve = (ref: string) =>
      ref
        .slice(2)
        .split('/')
        .reduce((node, key) => node?.[key], document);
    expect(references.filter((ref) => !ref.startsWith('#/') || resolve(ref) === undefined)).toEqual([]);
  });

  /** Generators would merge both into one type: the component `UsageBucket` and the enum `bucket` of `Usage`. */
  it('has no component with the name that client generators give to an enum member', () => {
    const pascal = (name: string) =>
      name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const components: Record<string, Json> = document.components.schemas;
    const ofMembers = Object.entries(components).flatMap(([parent, { properties = {} }]) =>
      Object.entries<Json>(properties)
        .filter(([, { enum: values, items }]) => values ?? items?.enum)
        .map(([member]) => parent + pascal(member)),
    );
    expect(ofMembers).toContain('UsageBucket');
    expect(Object.keys(components).filter((name) => ofMembers.includes(name))).toEqual([]);
  });

  it('gives 64 bits to ids and sums', () => {
    const { UsageMeasures, UsageRequest } = document.components.schemas;
    const tokens = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'];
    const { parameters } = document.paths['/me/usage'].get;
    const itemsOf = (name: string) => parameters.find((each: Json) => each.name === name).schema.items;
    const wide = [
      ...['requests', 'errors', ...tokens].map((name) => UsageMeasures.properties[name]),
      ...tokens.map((name) => UsageRequest.properties[name]),
      ...['upstream', 'key'].map(itemsOf),
    ];
    expect(wide.map(({ format }: Json) => format)).toEqual(wide.map(() => 'int64'));
  });

  it('lists the errors of usage filters, and those of buckets only for routes with buckets', () => {
    const { parameters } = document.paths['/me/usage/requests'].get;
    const schemaOf = (name: string) => parameters.find((each: Json) => each.name === name)?.schema;
    for (const name of ['model', 'provider', 'user', 'upstream', 'key', 'status'])
      expect([name, schemaOf(name).maxItems]).toEqual([name, 100]);
    expect(schemaOf('status').items).toMatchObject({ minimum: 100, maximum: 599 });
    expect([schemaOf('bucket'), schemaOf('group_by')]).toEqual([undefined, undefined]);
    const refused = (path: string) => document.paths[path].get.responses[400].description;
    expect(refused('/me/usage')).toMatch(/bucket must.*\n.*group_by must/);
    expect(refused('/me/usage/requests')).not.toMatch(/bucket|group_by/);
    for (const path of ['/me/usage', '/me/usage/requests'])
      expect(refused(path)).toMatch(
        /key must be ids\n.*status must be HTTP statuses[^]*more than 100 values/,
      );
  });

  it('lists the actions of the audit trail, so that clients can branch on them', () => {
    const { action } = document.components.schemas.AuditEvent.properties;
    expect(action.enum).toContain('member.role_changed');
    expect(action.enum).toHaveLength(19);
  });

  it('has every route of the service, the proxy and the metrics, and no other', () => {
    const documented = operations().flatMap(({ name, path }) => (/^\/(v1|metrics)/.test(path) ? [] : [name]));
    const names = (route: string) => route.replace(/:\w+|\{\w+\}/g, '{}');
    const routed = routesOf(app).filter((route) => !/ \/(v1|metrics)/.test(route));
    expect(documented.map(names).sort()).toEqual(routed.map(names).sort());
  });

  it('gives every operation an id of its own, a summary, and a known tag', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+[A-Za-z]*$/.test(id))).toEqual([]);
    const tags = document.tags.map(({ name }: { name: string }) => name);
    for (const { name, operation } of operations()) {
      expect([name, operation.summary]).toEqual([name, expect.stringMatching(/^[A-Z].{6,60}[^.]$/)]);
      expect(tags).toContain(operation.tags[0]);
    }
  });

  it('has owned resources at both addresses, each with its own operation id and parameters', () => {
    const parameters = (path: string, method: string) =>
      document.paths[path][method].parameters.flatMap((parameter: Json) =>
        parameter.in === 'path' ? [parameter.name] : [],
      );
    const [personal, team] = [
      '/me/projects/{id}/documents/{document_id}',
      '/me/organizations/{id}/projects/{project_id}/documents/{document_id}',
    ];
    expect(document.paths[personal].put.operationId).toBe('updateDocument');
    expect(document.paths[team].put.operationId).toBe('updateOrganizationDocument');
    expect(parameters(personal, 'put')).toEqual(['id', 'document_id']);
    expect(parameters(team, 'put')).toEqual(['id', 'project_id', 'document_id']);
  });

  it('declares the parameters of every path', () => {
    for (const { name, path, operation } of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const declared = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'path');
      expect([name, declared.map((parameter: Json) => parameter.name)]).toEqual([name, inPath]);
      expect(declared.every((parameter: Json) => parameter.required)).toBe(true);
    }
  });

  it('requires the right credential for each route', () => {
    const credentials = (path: string, method = 'get') =>
      (document.paths[path][method].security ?? document.security).map((one: object) => Object.keys(one)[0]);
    expect(credentials('/me/projects')).toEqual(['session']);
    expect(credentials('/auth/device/code', 'post')).toEqual([]);
    expect(credentials('/v1/{path}', 'post')).toEqual(['proxyKey', 'proxyKeyAsXApiKey', 'proxyKeyAsApiKey']);
    expect(credentials('/metrics')).toEqual(['adminToken']);
    expect(Object.keys(document.components.securitySchemes)).toEqual(
      expect.arrayContaining(['session', 'proxyKey', 'adminToken']),
    );
  });

  it('lists every error of a route', () => {
    const { responses } = document.paths['/me/organizations/{id}/projects'].post;
    const statuses = ['201', '400', '401', '403', '404', '408', '409', '415', '431', '500', '503'];
    expect(Object.keys(responses)).toEqual(statuses);
    const types = (status: number) =>
      responses[status].content['application/json'].schema.properties.error.properties.type?.enum;
    expect([types(400), types(401)]).toEqual([['invalid_name'], undefined]);
    expect(types(409)).toEqual(['name_taken', 'descriptions_too_long', 'too_many_projects']);
    expect(responses[403].description).toBe('- only admins can create projects');
    expect(Object.keys(document.paths['/me/projects'].post.responses)).not.toContain('403');
  });
});

describe('the routes of the proxy', () => {
  const proxied = () => Object.entries<Json>(document.paths['/v1/{path}']);

  it('accept and return any body', () => {
    for (const [method, { requestBody, responses }] of proxied()) {
      expect(responses['2XX'].content).toEqual({ '*/*': { schema: {} } });
      expect(responses.default.content).toEqual({ '*/*': { schema: {} } });
      const bodies = Object.keys(requestBody?.content ?? {});
      expect([method, bodies]).toEqual([method, method.startsWith('p') ? ['application/json', '*/*'] : []]);
    }
  });

  it('list no status for errors within a stream and for methods that are not in the document', () => {
    for (const [, { responses }] of [...proxied(), ['', document.paths['/v1/models'].get] as const]) {
      expect(Object.keys(responses)).not.toContain('405');
      const codes = Object.keys(responses[502].content['application/json'].examples);
      expect(codes).toEqual(['upstream_error', 'upstream_unreachable']);
    }
  });

  it('list own errors for the list of models, and errors of the upstream too for all others', () => {
    const ours = { $ref: '#/components/schemas/ProxyError' };
    const schemaOf = (operation: Json) => operation.responses[503].content['application/json'].schema;
    expect(schemaOf(document.paths['/v1/models'].get)).toEqual(ours);
    for (const [, operation] of proxied()) {
      expect(schemaOf(operation).anyOf).toEqual([ours, expect.objectContaining({ type: 'object' })]);
      expect(Object.keys(operation.responses[503].content)).toContain('*/*');
    }
  });
});

describe('the headers of a response', () => {
  const RATE_LIMIT_HEADERS = ['requests', 'tokens'].flatMap((kind) =>
    ['limit', 'remaining', 'reset'].map((figure) => `x-ratelimit-${figure}-${kind}`),
  );
  const headersOf = (path: string, method: string, status: number | string): Json =>
    document.paths[path][method].responses[status].headers;

  it('are listed if clients may act on them', () => {
    for (const [path, method] of [
      ['/v1/models', 'get'],
      ['/v1/{path}', 'post'],
    ] as const) {
      const listed = (status: number | string) =>
        Object.keys(headersOf(path, method, status))
          .slice(2)
          .filter((name) => !RATE_LIMIT_HEADERS.includes(name));
      expect(listed(401)).toEqual(['WWW-Authenticate', 'X-Should-Retry']);
      expect(listed(426)).toEqual(['Upgrade']);
      expect([listed(429), listed(503)]).toEqual([['X-Should-Retry', 'Retry-After'], ['X-Should-Retry']]);
    }
    expect(headersOf('/metrics', 'get', 401)).toHaveProperty('WWW-Authenticate');
    for (const owner of ['/me', '/me/organizations/{id}']) {
      expect(headersOf(`${owner}/usage`, 'get', 200)).toHaveProperty('Content-Disposition');
      expect(headersOf(`${owner}/usage/requests`, 'get', 200)).toHaveProperty('Link');
    }
  });

  it('include the limits of requests and tokens, below /v1 only', () => {
    for (const { name, path, operation } of operations()) {
      for (const [status, { headers }] of Object.entries<Json>(operation.responses)) {
        const listed = Object.keys(headers).filter((header) => header.startsWith('x-ratelimit-'));
        const isRouted = status !== '431'; // decided before there is a request
        expect([name, status, listed]).toEqual([
          name,
          status,
          path.startsWith('/v1') && isRouted ? RATE_LIMIT_HEADERS : [],
        ]);
        for (const header of listed)
          expect(document.components.headers[header]).not.toHaveProperty('required');
      }
    }
  });

  it('include the request id, below /v1 under both names', () => {
    for (const { name, path, operation } of operations()) {
      for (const [status, { headers }] of Object.entries<Json>(operation.responses)) {
        const ids = Object.keys(headers).filter((header) => header.endsWith('Request-Id'));
        const isRouted = status !== '431'; // decided before there is a request
        const both = path.startsWith('/v1') && isRouted ? ['X-Request-Id', 'Request-Id'] : ['X-Request-Id'];
        expect([name, ids.sort().reverse()]).toEqual([name, both]);
      }
    }
  });
});

describe('the errors of a route', () => {
  const typeOf = ({ error }: Json) => (typeof error === 'string' ? error : error.type) ?? 'untyped';

  it('are listed under the types that responses contain', () => {
    for (const { name, path, operation } of operations()) {
      if (/^\/(v1|metrics)/.test(path)) continue;
      for (const { content = {} } of Object.values<Json>(operation.responses)) {
        const examples = Object.entries<Json>(content['application/json']?.examples ?? {});
        const told = examples.map(([example]) => [name, example.replace(/_\d+$/, '')]);
        expect(told).toEqual(examples.map(([, { value }]) => [name, typeOf(value)]));
      }
    }
  });

  it('include organization errors only if the route chooses a pool', () => {
    const decision = (path: string) => {
      const { requestBody, responses } = document.paths[path].post;
      const { properties } = requestBody.content['application/x-www-form-urlencoded'].schema;
      return ['organization_id' in properties, /organization/.test(responses[404].description)];
    };
    expect(decision('/auth/device/approve')).toEqual([true, true]);
    expect(decision('/auth/device/deny')).toEqual([false, false]);
  });

  it('include a slug that cannot change', () => {
    const { description } = document.paths['/me/organizations/{id}'].put.responses[400];
    expect(description).toContain('- `invalid_slug`: the slug cannot change');
  });

  it('have the types of RFC 6749 below /oauth', () => {
    const { description } = document.paths['/oauth/token'].post.responses[400];
    expect(description).toContain('- `invalid_grant`: unknown device code');
    const begin = document.paths['/auth/device/code'].post.responses[400];
    expect(begin.description).toMatch(/^(- `invalid_request`: .+\n?)+$/);
  });
});

describe('the examples in the document', () => {
  it('exist for every JSON body, and match its schema', () => {
    const ajv = validator();
    ajv.addSchema(closed({ components: document.components }), 'document');
    for (const { name, operation } of operations()) {
      const bodies = [operation.requestBody, ...Object.values(operation.responses)].filter((body) => body);
      for (const { schema, example, examples } of bodies.flatMap(({ content = {} }) => jsonOf(content))) {
        const values = examples ? Object.values(examples).map(({ value }: Json) => value) : [example];
        const validate = ajv.compile(closed(schema));
        for (const value of values) {
          expect(value).toBeDefined();
          expect([name, value, validate(value), validate.errors]).toEqual([name, value, true, null]);
        }
      }
    }
  });

  it('match the schemas of parameters and members', () => {
    const ajv = validator();
    ajv.addSchema(closed({ components: document.components }), 'document');
    const schemas = objects().filter(({ examples, type }) => examples instanceof Array && type !== undefined);
    expect(schemas.length).toBeGreaterThan(100);
    for (const schema of schemas) {
      const validate = ajv.compile(closed(schema));
      expect([schema, schema.examples.filter((example: unknown) => !validate(example))]).toEqual([
        schema,
        [],
      ]);
    }
  });
});

function jsonOf(content: Record<string, Json>): Json[] {
  return Object.entries(content).flatMap(([type, media]) => (/json|form/.test(type) ? [media] : []));
}

describe('the contract check of all responses in the tests', () => {
  const respond = (status: number, body: object, headers: Record<string, string> = {}) => ({
    method: 'GET',
    url: '/me/projects/1',
    route: '/me/projects/:projectId',
    status,
    headers: { 'x-request-id': 'r', etag: '"1"', 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  });
  const project = {
    id: 1,
    organization_id: 2,
    name: 'n',
    description: '',
    created_at: '2026-01-31T09:30:00.000Z',
    updated_at: '2026-01-31T09:30:00.000Z',
  };

  it.each([
    ['that is valid', respond(200, project), undefined],
    ['with an additional member', respond(200, { ...project, object_key: 'k' }), 'additional properties'],
    ['with a missing member', respond(200, { id: 1 }), 'required property'],
    ['with an invalid time', respond(200, { ...project, created_at: 'today' }), 'created_at'],
    ['with an unknown status', respond(418, {}), '418 is not in the document'],
    ['with another content type', respond(200, project, { 'content-type': 'text/html' }), 'is text/html'],
    ['without a request id', respond(200, project, { 'x-request-id': '' }), 'X-Request-Id'],
    ['with a header of another route', respond(200, project, { link: '</>' }), 'Link'],
    ['without its ETag', respond(200, project, { etag: '' }), 'ETag'],
    [
      'with an error type of another route',
      respond(404, { error: { type: 'x', message: 'm' } }),
      'additional',
    ],
    ['of an unknown route', { ...respond(200, project), route: '/me/x' }, '/me/x is not in'],
  ])('checks a response %s', (_what, given, violation) => {
    const found = new Contract(document).violation(given);
    if (violation === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(violation);
  });

  it.each([
    ['a persistent connection', true],
    ['a connection that is closed', false],
  ])('sees complete responses on %s', async (_which, keepAlive) => {
    const { ProxyError: error } = document.components.schemas;
    const contract = new Contract({
      ...document,
      components: { schemas: { ...document.components.schemas, ProxyError: { ...error, properties: {} } } },
    });
    const found: string[] = [];
    contract.watch(app.app, (violation) => found.push(violation));
    const agent = new Agent({ keepAlive });
    for (const path of ['/v1/models', '/v1/chat/completions', '/v1/models'])
      await call(app, 'no-key', { agent, path });
    agent.destroy();
    const tooMany = expect.stringMatching(/^GET \/v1.*: data must NOT have additional.*"invalid_proxy_key"/);
    await eventually(() => expect(found).toEqual([tooMany, tooMany, tooMany]));
  });

  it('takes less than 5 ms of CPU time per response', () => {
    const contract = new Contract(document);
    const given = respond(200, project);
    contract.violation(given);
    const tookMs = cpuTimeMs(() => {
      for (let i = 0; i < 1_000; i++) contract.violation(given);
    });
    expect(tookMs / 1_000).toBeLessThan(5);
  });
});
