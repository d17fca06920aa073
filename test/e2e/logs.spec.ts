import { randomUUID } from 'node:crypto';
import { newKeySecret } from '../../src/keys/key-format.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { beginLogin, decide, poll, TestBrowser } from '../support/device-flow.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { readMetrics } from '../support/metrics.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { sessionFor } from '../support/sessions.js';

const ADMIN_TOKEN = 'the-admin-token-itself';

let database: TestDatabase;
let upstream: FakeUpstream;
let service: Service;
const secrets: Record<string, string> = {};

beforeAll(async () => {
  database = await createDatabase();
  upstream = await startUpstream((_request, response) => response.end('{"answer":"an-answer-of-a-model"}'));
  service = await startService(database.url, await temporaryFolder(), {
    ...{ LOG_LEVEL: 'trace', UPSTREAM_PRIVATE_NETWORKS: 'allow', ADMIN_TOKEN: ADMIN_TOKEN },
  });
});
afterAll(async () => {
  await service.end('SIGKILL');
  await upstream.close();
  await database.drop();
});

const lines = () =>
  service
    .output()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function writeDocuments(): Promise<void> {
  const anna = await service.as('anna');
  const { body: project } = await anna.post('/me/projects').send({ name: 'Handbook' }).expect(201);
  const documents = `/me/projects/${project.id}/documents`;
  const document = { title: 'title-of-a-document', slug: 'a-slug', content: 'content-of-a-document' };
  await anna.post(documents).send(document).expect(201);
  await anna.post(documents).send(document).expect(409);
  await anna.post(documents).send('{"content": "content-of-a-document').expect(400);
  Object.assign(secrets, { title: document.title, content: document.content });
}

async function invite(): Promise<void> {
  const [anna, bob] = [await service.as('anna'), await service.as('bob')];
  const { body: team } = await anna.post('/me/organizations').send({ name: 'A', slug: 'a' }).expect(201);
  const { body: invitation } = await anna
    .post(`/me/organizations/${team.id}/invite`)
    .send({ email: 'bob@example.com', role: 'member' })
    .expect(201);
  secrets.invitation = invitation.token;
  await bob.post('/me/invitations/accept').send({ token: invitation.token }).expect(200);
  await bob.get(`/me/invitations/${invitation.token}`).expect(404);
}

async function logDevicesIn(): Promise<void> {
  const anna = await service.as('anna');
  const device = await beginLogin(service);
  await decide(anna, device.user_code, 'approve').expect(200);
  const [, key] = (await poll(service, device.device_code)).split(' ');
  const other = await beginLogin(service);
  const browser = await TestBrowser.of(service, 'anna');
  const csrf = await browser.csrfToken(other.user_code);
  await browser.submit('deny', { user_code: other.user_code, csrf_token: csrf }).expect(200);
  await anna.get(`/me/device-requests/${other.user_code}`);
  Object.assign(secrets, {
    deviceCode: device.device_code,
    userCode: device.user_code,
    deviceKey: key,
    csrf,
  });
  Object.assign(secrets, { otherDeviceCode: other.device_code, otherUserCode: other.user_code });
}

async function callAnUpstream(): Promise<void> {
  const anna = await service.as('anna');
  const api_key = 'the-api-key-of-an-upstream';
  const fields = { name: 'Fake', base_url: upstream.url, api_key };
  await anna.post('/me/upstreams').send(fields).expect(201);
  await anna
    .post('/me/upstreams')
    .send({ ...fields, name: '', api_key: 'rejected-api-key' })
    .expect(400);
  const { body: key } = await anna.post('/me/keys').expect(201);
  const ask = (secret: string) =>
    service.anonymous
      .post('/v1/chat/completions?key=a-query-of-a-request')
      .set('Authorization', `Bearer ${secret}`)
      .send({ messages: [{ content: 'a-prompt-to-a-model' }] });
  await ask(key.api_key).expect(200);
  await ask(`${key.api_key}x`).expect(401);
  Object.assign(secrets, { upstreamKey: api_key, key: key.api_key, rejectedKey: 'rejected-api-key' });
  Object.assign(secrets, {
    prompt: 'a-prompt-to-a-model',
    answer: 'an-answer-of-a-model',
    query: 'a-query-of-a',
  });
}

async function presentCredentials(): Promise<void> {
  const session = await sessionFor('anna');
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  await service.anonymous.get('/me/projects').set(bearer(session)).expect(200);
  await service.anonymous
    .get('/me/projects')
    .set(bearer(`${session}x`))
    .expect(401);
  await service.anonymous.get(`/me/projects?access_token=${session}`).expect(401);
  await service.anonymous.get(`/no/such/${session}`).expect(404);
  await service.anonymous.get('/metrics').set(bearer(ADMIN_TOKEN)).expect(200);
  await service.anonymous.get('/metrics').set(bearer('a-wrong-admin-token')).expect(401);
  Object.assign(secrets, {
    session,
    adminToken: ADMIN_TOKEN,
    wrongToken: 'a-wrong-admin-token',
  });
}

/** Causes an unexpected failure, whose error is logged with all details. */
async function meetTheUnexpected(): Promise<void> {
  const anna = await service.as('anna');
  await database.query('ALTER TABLE projects RENAME COLUMN description TO missing');
  await anna.post('/me/projects').send({ name: 'name-of-a-project', description: 'unstorable' }).expect(500);
  await database.query('ALTER TABLE projects RENAME COLUMN missing TO description');
  Object.assign(secrets, { name: 'name-of-a-project', description: 'unstorable' });
}

it('writes no secret to the log at level trace', async () => {
  await writeDocuments();
  await invite();
  await logDevicesIn();
  await callAnUpstream();
  await presentCredentials();
  await meetTheUnexpected();
  await eventually(() => expect(lines().some(({ msg }) => msg === 'unexpected failure')).toBe(true));
  const output = service.output();
  const found = Object.entries(secrets).filter(([, secret]) => output.includes(secret));
  expect(found).toEqual([]);
  expect(Object.keys(secrets).length).toBeGreaterThan(15);
});

it('writes one line for each request, with its id and its route', async () => {
  const anna = await service.as('anna');
  await anna.get('/me/projects?x=1').set('X-Request-Id', 'request-of-a-test').expect(200);
  const line = await eventually(() => {
    const found = lines().find(({ requestId }) => requestId === 'request-of-a-test');
    if (!found) throw new Error('no line with the id of the request');
    return found;
  });
  expect(line).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    context: 'Request',
    requestId: 'request-of-a-test',
    method: 'GET',
    route: '/me/projects',
    status: 200,
    userId: 'anna',
    ms: expect.any(Number),
  });
});

it.each([
  ['without a key', 'missing_proxy_key', undefined, 401],
  ['with a wrong key', 'invalid_proxy_key', 'a-wrong-key', 401],
  ['with an unknown key', 'invalid_proxy_key', newKeySecret(), 401],
  ['whose key cannot be verified', 'database_unavailable', newKeySecret(), 503],
])('logs and counts a proxied request %s', async (_which, error, key, status) => {
  const count = async () =>
    (await readMetrics(service, ADMIN_TOKEN)).get(`mintkeep_proxy_key_rejections_total{error="${error}"}`) ??
    0;
  const before = await count();
  const requestId = `request-${randomUUID()}`;
  if (status === 503) await database.rejectConnections();
  const request = service.anonymous.get('/v1/a-path-of-a-client?a=query').set('X-Request-Id', requestId);
  if (key !== undefined) void request.set('Authorization', `Bearer ${key}`);
  const response = await request;
  await database.acceptConnections();
  expect(response.status).toBe(status);
  expect(await count()).toBe(before + 1);
  await eventually(() => expect(lines().filter((line) => line.requestId === requestId)).toHaveLength(1));
  expect(lines().find((line) => line.requestId === requestId)).toEqual({
    level: 30,
    time: expect.any(String),
    context: 'Request',
    requestId,
    method: 'GET',
    route: '/v1/*',
    status,
    ms: expect.any(Number),
  });
});

it('logs frequent health checks at level debug', async () => {
  await service.anonymous.get('/healthz').set('X-Request-Id', 'probe-of-a-test').expect(200);
  await eventually(() =>
    expect(lines().find(({ requestId }) => requestId === 'probe-of-a-test')).toMatchObject({ level: 20 }),
  );
});
