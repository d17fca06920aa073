import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import type { TestOwner } from '../support/owners.js';
import { call, ownerWith } from '../support/proxy-client.js';
import { respondWith, startRawUpstream } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';

let app: TestApp;
let upstream: RawUpstream;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  upstream = await startRawUpstream(respondWith('{}'));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

async function limitKey(owner: TestOwner, limits: object): Promise<void> {
  const { body } = await owner.admin.get('/me/keys').expect(200);
  await owner.admin.put(`/me/keys/${body.keys[0].id}/limits`).send(limits).expect(200);
}

function begin(key: string, contentLength: number): ClientRequest {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': contentLength,
    expect: '100-continue',
  };
  return request(`${app.url}/v1/chat/completions`, { method: 'POST', headers, agent: false });
}

it('a body that arrives late meets the limits of that moment', async () => {
  const { owner, key } = await ownerWith(app, upstream.url);
  const body = '{"model":"b"}';
  const sent = begin(key, body.length);
  const response = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  const continued = new Promise<void>((resolve) => sent.once('continue', resolve));
  sent.flushHeaders();
  await continued;
  await limitKey(owner, { models: ['a'] });
  sent.end(body);
  const { statusCode } = await response;
  (await response).resume();
  expect(statusCode).toBe(403);
});

it('a path that leads to no upstream does not count as a request', async () => {
  const { owner, key } = await ownerWith(app, upstream.url);
  await limitKey(owner, { requests_per_minute: 1 });
  for (let i = 0; i < 3; i++) expect((await call(app, key, { path: '/v1/a/%2e%2e/b' })).status).toBe(404);
  expect((await call(app, key, { path: '/v1/b' })).status).toBe(200);
});
