import type { LookupAddress } from 'node:dns';
import { jest } from '@jest/globals';
import { HostResolver } from '../../src/upstreams/name-resolution/host-resolver.js';
import { NameNotFound } from '../../src/upstreams/name-resolution/name-servers.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { call, ownerWith } from '../support/proxy-client.js';
import { respondWith, startRawUpstream } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { callRecorded } from '../support/recorded.js';

const LOOPBACK: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];

let app: TestApp;
let upstream: RawUpstream;
let port: string;
/** Names that resolve by now. */
let known: Set<string>;
let asked: string[];
/** Ends the lookups of `slow` names, these and later ones. */
let endSlow: () => void;
let slowEnded: Promise<void>;

/** Name servers that say nothing of `slow` names until {@link endSlow}. */
async function query(hostname: string): Promise<LookupAddress[]> {
  asked.push(hostname);
  if (known.has(hostname)) return LOOPBACK;
  if (hostname.startsWith('slow')) await slowEnded;
  throw new NameNotFound();
}

/** The parts of a {@link HostResolver} that leave the process. */
interface Lookups {
  query: typeof query;
  lookUp: typeof query;
}

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow', UPSTREAM_CONNECT_TIMEOUT_MS: '4000' });
  upstream = await startRawUpstream(respondWith('{}'));
  port = new URL(upstream.url).port;
  const resolver: unknown = app.app.get(HostResolver);
  jest.spyOn(resolver as Lookups, 'query').mockImplementation(query);
  jest
    .spyOn(resolver as Lookups, 'lookUp')
    .mockRejectedValue(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(() => {
  known = new Set();
  asked = [];
  slowEnded = new Promise((resolve) => (endSlow = resolve));
});

const urlOf = (hostname: string) => `http://${hostname}:${port}`;

it('slow names of one organization do not delay new hosts of other organizations', async () => {
  const { owner, key } = await ownerWith(app, ...Array.from({ length: 6 }, () => upstream.url));
  await app.database.query(
    `UPDATE upstreams SET base_url = 'http://slow-' || id || '.example' WHERE organization_id = $1`,
    [owner.organizationId],
  );
  const calls = Array.from({ length: 6 }, () => call(app, key, { body: '{}' }));
  await eventually(() => expect(asked.length).toBeGreaterThanOrEqual(2));
  for (let i = 0; i < 5; i++) {
    known.add(`good-${i}.example`);
    const { key: other } = await ownerWith(app, urlOf(`good-${i}.example`));
    expect((await call(app, other, { body: '{}' })).status).toBe(200);
  }
  endSlow();
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  for (const status of statuses) expect([502, 504]).toContain(status);
});

it('a name that does not resolve may be saved, is cached, and is looked up again by a test', async () => {
  const { owner, key, ids } = await ownerWith(app, urlOf('later.example'), upstream.url);
  const { record } = await callRecorded(app, owner, key, { body: '{}' });
  expect(record.attempts.map(({ error }) => error)).toEqual(['dns', null]);
  asked = [];
  known.add('later.example');
  const again = await callRecorded(app, owner, key, { body: '{}' });
  expect(again.record.attempts.map(({ error }) => error)).toEqual(['dns', null]);
  expect(asked).toEqual([]);
  const { body } = await owner.admin.post(`${owner.base}/upstreams/${ids[0]}/test`).expect(200);
  expect(body).toMatchObject({ ok: true, status: 200 });
  const { record: last } = await callRecorded(app, owner, key, { body: '{}' });
  expect(last.attempts.map(({ error }) => error)).toEqual([null]);
});

it('a name that is saved again is looked up again, too', async () => {
  const { owner, key, ids } = await ownerWith(app, urlOf('mended.example'));
  expect((await call(app, key, { body: '{}' })).status).toBe(502);
  known.add('mended.example');
  const fields = { base_url: urlOf('mended.example') };
  await owner.admin.put(`${owner.base}/upstreams/${ids[0]}`).send(fields).expect(200);
  expect((await call(app, key, { body: '{}' })).status).toBe(200);
});
