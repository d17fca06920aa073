import { setTimeout as pause } from 'node:timers/promises';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { personalOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { call, fillPool } from '../support/proxy-client.js';
import { respondWith, startRawUpstream } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { startService, temporaryFolder } from '../support/service.js';
import { undisturbed } from '../support/standstill.js';

const SETTINGS = { UPSTREAM_PRIVATE_NETWORKS: 'allow' };
/** Part of its capacity that a bucket gains in a second. */
const REFILL = 1 / 62;
/** Shares that were taken so long before may be used, too. */
const SHARE_SECONDS = 2;
const A_CALL = { body: '{"model":"m"}' };

let database: TestDatabase;
let replicas: TestApp[];
let upstream: RawUpstream;

beforeEach(async () => {
  database = await createDatabase();
  replicas = [];
  upstream = await startRawUpstream(respondWith('{"usage":{"prompt_tokens":1000000,"completion_tokens":0}}'));
});
afterEach(async () => {
  await database.acceptConnections();
  await Promise.all(replicas.map((replica) => replica.close()));
  await database.drop();
  await upstream.close();
});

async function startReplicas(count: number): Promise<void> {
  for (let i = 0; i < count; i++) replicas.push(await startApp(SETTINGS, { database }));
}

/** A person with an upstream, a price of 0.25 USD per million tokens, and a key with limits. */
async function limited(limits: object): Promise<{ owner: TestOwner; key: string; id: number }> {
  const owner = await personalOwner(replicas[0]!);
  await fillPool(owner, { url: upstream.url, provider: 'custom' });
  await owner.admin
    .put('/me/prices')
    .send({ prices: [{ model: '*', input: 0.25, output: 0 }] })
    .expect(200);
  const { body } = await owner.admin.post('/me/keys').send({ limits }).expect(201);
  return { owner, key: body.api_key as string, id: body.id as number };
}

const statusOf = async (app: Pick<TestApp, 'url'>, key: string) => (await call(app, key, A_CALL)).status;

/**
 * Sends requests over all replicas, as fast as they respond, until a number is admitted.
 * @param seconds least and greatest duration
 * @returns the number of admitted requests and the seconds
 */
async function flood(
  key: string,
  count: number,
  seconds: { least: number; greatest: number },
): Promise<[admitted: number, seconds: number]> {
  const beganAt = performance.now();
  const elapsed = () => (performance.now() - beganAt) / 1_000;
  let admitted = 0;
  const isOver = () => elapsed() > (admitted < count ? seconds.greatest : seconds.least);
  await inParallel(8 * replicas.length, async (i) => {
    while (!isOver()) if ((await statusOf(replicas[i % replicas.length]!, key)) === 200) admitted++;
  });
  return [admitted, elapsed()];
}

describe('two replicas', () => {
  it('admit a minute of requests together, and the refill', async () => {
    await startReplicas(2);
    await undisturbed(async () => {
      const { key } = await limited({ requests_per_minute: 300 });
      const [admitted, seconds] = await flood(key, 300, { least: 6, greatest: 20 });
      expect(admitted).toBeLessThanOrEqual(300 * (1 + (seconds + SHARE_SECONDS) * REFILL));
      expect(admitted).toBeGreaterThanOrEqual(300);
    });
  });

  it('admit no more than the limit at once, for any limit', async () => {
    await startReplicas(2);
    for (const limit of [1, 2, 7, 40]) {
      await undisturbed(async () => {
        const { key } = await limited({ requests_per_minute: limit });
        const beganAt = performance.now();
        const statuses = await inParallel(60, (i) => statusOf(replicas[i % 2]!, key));
        const seconds = (performance.now() - beganAt) / 1_000;
        const { 200: admitted = 0 } = tally(statuses) as { 200?: number };
        expect(admitted).toBeLessThanOrEqual(limit + Math.ceil(seconds * limit * REFILL));
        expect(admitted).toBeGreaterThanOrEqual(Math.floor(limit * 0.9));
      });
    }
  });

  it('know a replaced limit at once', async () => {
    await startReplicas(2);
    const { owner, key, id } = await limited({ requests_per_minute: 2 });
    await inParallel(4, (i) => statusOf(replicas[i % 2]!, key));
    await owner.admin.put(`/me/keys/${id}/limits`).send({}).expect(200);
    for (const replica of replicas) expect(await statusOf(replica, key)).toBe(200);
  });

  it.each([
    ['budget', { budget: { usd: 1, period: 'month' } }, 'budget_exceeded'],
    ['tokens', { tokens_per_minute: 4_000_000 }, 'rate_limited'],
  ])('know the %s that the other has spent', async (_kind, limits, code) => {
    await startReplicas(2);
    const { key } = await limited(limits);
    const [first, second] = replicas as [TestApp, TestApp];
    expect(await statusOf(second, key)).toBe(200); // so that the second replica has sums of its own
    for (let i = 0; i < 3; i++) expect(await statusOf(first, key)).toBe(200);
    await eventually(async () => {
      const { status, text } = await call(second, key, A_CALL);
      expect([status, text]).toEqual([429, expect.stringContaining(code)]);
    });
  });

  it('stop within the requests in flight and those of five seconds', async () => {
    await startReplicas(2);
    const { owner, id, key } = await limited({ budget: { usd: 10, period: 'total' } });
    await eventually(async () => {
      await inParallel(4, (i) => statusOf(replicas[i % 2]!, key));
      for (const replica of replicas) expect(await statusOf(replica, key)).toBe(429);
    });
    const served = upstream.requests.length;
    await eventually(async () => {
      const { body } = await owner.admin.get(`/me/keys/${id}/limits`).expect(200);
      expect(body.status.budget.spent_usd).toBe(served * 0.25);
    });
    for (const replica of replicas) expect(await statusOf(replica, key)).toBe(429);
    expect(upstream.requests).toHaveLength(served);
  });
});

it('a client at its limit is served by one of four replicas', async () => {
  await startReplicas(4);
  const limit = 600;
  const { key } = await limited({ requests_per_minute: limit });
  await eventually(async () => {
    const statuses = await inParallel(100, (i) => statusOf(replicas[i % 4]!, key));
    expect(statuses).toContain(429); // the bucket is empty from now on
  });
  const seconds = 5;
  const requests = (limit / 60) * seconds;
  await undisturbed(async () => {
    const beganAt = performance.now();
    const statuses = await inParallel(requests, async (i) => {
      await pause(beganAt + (i * 60_000) / limit - performance.now()); // the rate is what is tested
      return statusOf(replicas[0]!, key);
    });
    expect((tally(statuses) as { 200: number })[200]).toBeGreaterThanOrEqual(0.85 * requests);
  });
});

it('spending survives kill -9, to the last request that was served', async () => {
  const dataDir = await temporaryFolder();
  await startReplicas(1);
  const { owner, id, key } = await limited({ budget: { usd: 1_000, period: 'total' } });
  const service = await startService(database.url, dataDir, SETTINGS);
  let served = 0;
  const spending = inParallel(8, async () => {
    for (;;) if ((await statusOf(service, key)) === 200) served++;
  }).catch(() => undefined);
  await eventually(() => expect(served).toBeGreaterThan(200));
  await service.end('SIGKILL');
  await spending;
  replicas.push(await startApp(SETTINGS, { database, dataDir })); // takes the journal over
  await eventually(async () => {
    const { body } = await owner.admin.get(`/me/keys/${id}/limits`).expect(200);
    const requests = body.status.budget.spent_usd / 0.25;
    expect(requests).toBeGreaterThanOrEqual(served);
    expect(requests).toBeLessThanOrEqual(upstream.requests.length);
  });
});

describe('a replica without the database', () => {
  it('goes on with the limits that it knows, by its own count', async () => {
    await startReplicas(1);
    const [replica] = replicas as [TestApp];
    const { key } = await limited({ requests_per_minute: 20 });
    const { key: spender, owner, id } = await limited({ budget: { usd: 1, period: 'month' } });
    const beganAt = performance.now();
    for (let i = 0; i < 5; i++) expect(await statusOf(replica, key)).toBe(200);
    expect(await statusOf(replica, spender)).toBe(200);
    await database.rejectConnections();
    const statuses = [];
    for (let i = 0; i < 30; i++) statuses.push(await statusOf(replica, key));
    const seconds = (performance.now() - beganAt) / 1_000;
    const { 200: admitted } = tally(statuses) as { 200: number };
    expect(admitted).toBeGreaterThanOrEqual(13); // a share of two tokens may have ended
    expect(admitted).toBeLessThanOrEqual(16 + Math.ceil(seconds * 20 * REFILL));
    const spent = await inParallel(1, async () => {
      const all = [];
      for (let i = 0; i < 6; i++) all.push(await statusOf(replica, spender));
      return all;
    });
    expect(spent).toEqual([[200, 200, 200, 429, 429, 429]]);
    await database.acceptConnections();
    await eventually(async () => {
      const { body } = await owner.admin.get(`/me/keys/${id}/limits`).expect(200);
      expect(body.status.budget).toMatchObject({ spent_usd: 1, is_exceeded: true });
    });
    expect(await statusOf(replica, spender)).toBe(429);
  });

  it('counts its requests for the bucket once the database is back', async () => {
    await startReplicas(2);
    const [replica, other] = replicas as [TestApp, TestApp];
    const { key } = await limited({ requests_per_minute: 20 });
    const beganAt = performance.now();
    expect(await statusOf(replica, key)).toBe(200);
    await database.rejectConnections();
    for (let i = 0; i < 25; i++) await statusOf(replica, key);
    await database.acceptConnections();
    await eventually(async () => {
      const [row] = await database.query<{ tokens: number }>('SELECT tokens FROM request_buckets');
      expect(row!.tokens).toBeLessThan(10);
    });
    const statuses = await inParallel(20, (i) => statusOf([replica, other][i % 2]!, key));
    const { 200: admitted = 0 } = tally(statuses) as { 200?: number };
    const seconds = (performance.now() - beganAt) / 1_000;
    expect(admitted).toBeLessThanOrEqual(1 + Math.ceil(seconds * 20 * REFILL));
  });
});
