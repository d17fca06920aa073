import { Agent, request as httpRequest } from 'node:http';
import fc from 'fast-check';
import type { HttpServerAdapter } from '../../src/http/server/http-server.js';
import { FastPathRequest } from '../../src/http/fast-path/request.js';
import { startApp, takeViolations } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { FORM } from './bodies.js';
import { requestsTo } from './requests.js';
import type { FuzzDocument, FuzzRequest } from './requests.js';
import { createWorld } from './world.js';
import type { World } from './world.js';

/** How many requests; `npm run fuzz` makes 10,000. */
const CASES = Number(process.env.FUZZ_CASES ?? 300);
/** Seed of a run that is to be repeated. */
const SEED = process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED);
const MS_PER_CASE = 500;

let app: TestApp;
let upstream: FakeUpstream;
let world: World;
/** How many the service has read itself. */
let plainRequests = 0;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
/** Agent whose connection stays on the fast path: no request on it needs Node's parser. */
const plainAgent = new Agent({ keepAlive: true, maxSockets: 1 });
const PLAIN_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

beforeAll(async () => {
  upstream = await startUpstream();
  const variables = { DEVICE_CODES_PER_MINUTE: '1000000', UPSTREAM_PRIVATE_NETWORKS: 'allow' };
  app = await startApp(variables, {}, { storageTimeoutMs: 60_000 }); // no internal error after a standstill
  world = await createWorld(app, upstream.url);
  const adapter = app.app.getHttpAdapter() as unknown as HttpServerAdapter;
  const handle = adapter.handle.bind(adapter);
  adapter.handle = (request, response) => {
    if (request instanceof FastPathRequest) plainRequests++;
    return handle(request, response);
  };
});
afterAll(async () => {
  agent.destroy();
  plainAgent.destroy();
  await app.close();
  await upstream.close();
});

it(
  `responds to ${CASES} odd requests as the document has it, and to none with an internal error`,
  async () => {
    const { body } = await app.anonymous.get('/openapi.json').expect(200);
    const counts: Record<string, number> = {};
    const property = fc.asyncProperty(requestsTo(body as FuzzDocument), async (request) => {
      const status = await send(request);
      counts[status] = (counts[status] ?? 0) + 1;
      expect(takeViolations()).toEqual([]);
      if (!request.path.startsWith('/v1')) expect(status).toBeLessThan(500);
      const isBare = hasTakenAway(request, status);
      if (status === 429 || isBare) await app.database.query('DELETE FROM rate_limits');
      if (isBare) world = await createWorld(app, upstream.url);
    });
    await fc.assert(property, { numRuns: CASES, seed: SEED, interruptAfterTimeLimit: CASES * MS_PER_CASE });
    expect(Object.keys(counts)).toEqual(expect.arrayContaining(['200', '400', '401', '404']));
    expect(plainRequests).toBeGreaterThan(0);
    if (process.env.FUZZ_CASES) process.stderr.write(`responses by status: ${JSON.stringify(counts)}\n`);
    await app.anonymous.get('/readyz').expect(200);
  },
  CASES * MS_PER_CASE * 2 + 60_000,
);

/** Whether something that exists may be gone, or somebody may have lost a role. */
function hasTakenAway({ method, path }: FuzzRequest, status: number): boolean {
  const changes = method === 'DELETE' || /accept|decline|approve|deny|members/.test(path);
  return changes && method !== 'GET' && status < 300;
}

/** Sends the bytes as they are and reads the response to its end. */
function send(request: FuzzRequest): Promise<number> {
  const { method, path, parameters, query, headers, body, credential } = filledIn(request);
  const known = path.startsWith('/me/organizations/{id}') ? world.team : world.personal;
  const value = (name: string) => parameters[name] ?? known[name] ?? '1';
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => escaped(value(name)));
  const search = query.map((pair) => pair.map(escaped).join('=')).join('&');
  const authorization = world.credentials[credential];
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      `${app.url}${filled}${search && `?${search.slice(0, 8_000)}`}`,
      {
        ...{ method, agent: isPlain(request) ? plainAgent : agent },
        headers: {
          ...headers,
          ...(authorization === undefined ? {} : { authorization }),
          ...(body ? { 'content-type': body.type, 'content-length': body.bytes.length } : {}),
        },
      },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode!));
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body?.bytes);
  });
}

function isPlain({ method, path }: FuzzRequest): boolean {
  return path.startsWith('/v1') && PLAIN_METHODS.includes(method);
}

/** Completes a request that a browser sends. */
function filledIn(request: FuzzRequest): FuzzRequest {
  const { browser, headers, query, body } = request;
  if (!browser) return request;
  const { cookie, form } = world.browser;
  const pairs = browser.map((name) => [name, form[name]] as const);
  return {
    ...request,
    headers: { origin: app.url, ...headers, cookie },
    query: [...query.filter(([name]) => !browser.some((field) => field === name)), ...pairs],
    body: body?.type === FORM ? { ...body, bytes: withFields(body.bytes, pairs) } : body,
  };
}

function withFields(bytes: Buffer, pairs: readonly (readonly [string, string])[]): Buffer {
  const form = new URLSearchParams(bytes.toString());
  for (const [name, value] of pairs) form.set(name, value);
  return Buffer.from(form.toString());
}

/** Percent-encoded where it has to be; what has no encoding is left to the service to make sense of. */
function escaped(text: string): string {
  const short = text.slice(0, 2_000);
  return short.isWellFormed() && !short.startsWith('%')
    ? encodeURIComponent(short)
    : short.replace(/[^\x21-\x7e]/g, '%ed%a0%80');
}
