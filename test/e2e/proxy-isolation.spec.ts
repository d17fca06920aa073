import fc from 'fast-check';
import { once } from 'node:events';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { call, fillPool, mintKey, open } from '../support/proxy-client.js';
import { respondWith, chunk, LAST_CHUNK, startRawUpstream, STREAM_HEADERS } from '../support/raw-upstream.js';
import type { RawRequest, RawUpstream } from '../support/raw-upstream.js';

/** Two providers, shared by all owners. */
let providers: RawUpstream[];
/** Two replicas with one database. */
let replicas: [TestApp, TestApp];

/** Responds with the key and the path of the request. */
function echo({ socket, headers, target }: RawRequest): void {
  const key = headers['x-api-key'] ?? headers.authorization;
  const status = target.includes('fails') ? 500 : 200;
  respondWith(JSON.stringify({ key, target }), { status })({ socket, method: 'POST' } as RawRequest);
}

beforeAll(async () => {
  providers = [await startRawUpstream(echo), await startRawUpstream(echo)];
  const variables = { UPSTREAM_PRIVATE_NETWORKS: 'allow' };
  const first = await startApp(variables);
  replicas = [first, await startApp(variables, { database: first.database })];
});
afterAll(async () => {
  await replicas[1].close();
  await replicas[0].close();
  for (const provider of providers) await provider.close();
});

interface Tenant {
  readonly key: string;
  /** Responses of {@link echo} that the tenant may get. */
  readonly allowed: string[];
}

let upstreams = 0;

interface Entry {
  readonly at: number;
  readonly path: string;
  readonly provider: string;
  readonly priority: number;
}

const pool: fc.Arbitrary<Entry[]> = fc.array(
  fc.record({
    at: fc.nat(1),
    path: fc.constantFrom('', '/v1', '/api/v1', '/fails'),
    provider: fc.constantFrom('openai', 'anthropic'),
    priority: fc.nat(2),
  }),
  { minLength: 1, maxLength: 3 },
);

async function createTenant(owner: TestOwner, entries: Entry[]): Promise<Tenant> {
  const allowed: string[] = [];
  for (const { at, path, provider, priority } of entries) {
    const apiKey = `sk-${owner.organizationId}-${++upstreams}-secret`;
    await fillPool(owner, { url: providers[at]!.url + path, provider, priority, apiKey });
    const key = provider === 'anthropic' ? apiKey : `Bearer ${apiKey}`;
    allowed.push(JSON.stringify({ key, target: path.endsWith('/v1') ? `${path}/x` : `${path}/v1/x` }));
  }
  return { key: await mintKey(owner), allowed };
}

/** Pairs of a tenant and a replica. */
const callPlans = fc.array(fc.tuple(fc.nat(), fc.nat(1)), { minLength: 30, maxLength: 60 });

it('a key reaches only the upstreams of its owner, with the API keys of that owner', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(pool, { minLength: 2, maxLength: 5 }), callPlans, async (pools, plan) => {
      const tenants: Tenant[] = await Promise.all(
        pools.map(async (entries, i) =>
          createTenant(await (i % 2 ? teamOwner : personalOwner)(replicas[0]), entries),
        ),
      );
      const calls = plan.map(async ([which, replica]) => {
        const { key, allowed } = tenants[which % tenants.length]!;
        const { text } = await call(replicas[replica]!, key, { path: '/v1/x', body: '{}' });
        expect(allowed).toContain(text);
      });
      await Promise.all(calls);
    }),
    { numRuns: 8 },
  );
});

it('the keys of one person in several teams reach the upstreams of the respective team', async () => {
  const [app] = replicas;
  const [acme, globex] = [await teamOwner(app), await teamOwner(app)];
  const both = await join(app, acme, 'both', 'member');
  await join(app, globex, 'both', 'member');
  for (const [team, apiKey] of [
    [acme, 'sk-of-acme'],
    [globex, 'sk-of-globex'],
  ] as const) {
    await fillPool(team, { url: providers[0]!.url, apiKey });
    const { body } = await both.post(`${team.base}/keys`).expect(201);
    for (const replica of replicas) {
      const { text } = await call(replica, body.api_key, { path: '/v1/x' });
      expect(JSON.parse(text).key).toBe(`Bearer ${apiKey}`);
    }
  }
  const { body } = await both.post('/me/keys').expect(201);
  expect((await call(app, body.api_key, { path: '/v1/x' })).status).toBe(503);
});

describe('the end of a key under concurrent traffic', () => {
  interface Ended {
    readonly team: TestOwner;
    readonly key: string;
    /** Invalidates the key. The key must be rejected as soon as the promise resolves. */
    readonly end: () => PromiseLike<unknown>;
  }

  const ends: [string, (team: TestOwner, user: string) => Promise<Ended>][] = [
    [
      'a key that is revoked',
      async (team) => {
        const { body } = await team.admin.post(`${team.base}/keys`).expect(201);
        return {
          team,
          key: body.api_key,
          end: () => team.admin.delete(`${team.base}/keys/${body.id}`).expect(204),
        };
      },
    ],
    [
      'the key of a member who is removed',
      async (team, user) => {
        const member = await join(replicas[0], team, user, 'member');
        const { body } = await member.post(`${team.base}/keys`).expect(201);
        return {
          team,
          key: body.api_key,
          end: () => team.admin.delete(`${team.base}/members/${user}`).expect(200),
        };
      },
    ],
    [
      'the key of an organization that is deleted',
      async (team) => ({
        team,
        key: await mintKey(team),
        end: () => team.admin.delete(team.base).expect(200),
      }),
    ],
  ];

  it.each(ends)('rejects every later request: %s', async (_description, begin) => {
    await inParallel(6, async (index) => {
      const team = await teamOwner(replicas[index % 2]!);
      await fillPool(team, providers[0]!.url);
      const { key, end } = await begin(team, `member-of-${team.organizationId}`);
      const late: number[] = [];
      let hasEnded = false;
      let asks = true;
      const traffic = replicas.flatMap((replica) =>
        [1, 2].map(async () => {
          while (asks) {
            const startedLate = hasEnded;
            const { status } = await call(replica, key, { path: '/v1/x', body: '{}' });
            if (startedLate) late.push(status);
            else expect([200, 401, 503]).toContain(status);
            if (late.length >= 20) asks = false;
          }
        }),
      );
      for (const replica of replicas) expect((await call(replica, key, { path: '/v1/x' })).status).toBe(200);
      await end();
      hasEnded = true;
      await Promise.all(traffic);
      expect(tally(late)).toEqual({ 401: late.length });
    });
  });

  it('does not end an open stream', async () => {
    const team = await teamOwner(replicas[0]);
    const provider = await startRawUpstream(({ socket }) =>
      socket.write(STREAM_HEADERS + chunk('data: {}\n\n').toString()),
    );
    await fillPool(team, provider.url);
    const key = await mintKey(team);
    const response = await open(replicas[1], key, { body: '{"stream":true}' });
    await once(response, 'data');
    await team.admin.delete(team.base).expect(200);
    expect((await call(replicas[1], key, { body: '{}' })).status).toBe(401);
    const ended = once(response.resume(), 'end');
    provider.requests[0]!.socket.write(LAST_CHUNK);
    await ended;
    expect(response.complete).toBe(true);
    await provider.close();
  });
});
