import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect, lockedOut } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { readMetrics } from '../support/metrics.js';
import { startService } from '../support/service.js';
import { sessionFor } from '../support/sessions.js';

const ADMIN_TOKEN = 'an-admin-token-of-a-test';
const TOKEN_REQUIRED = { error: { message: 'the admin token is required' } };

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ ADMIN_TOKEN });
});
afterAll(() => app.close());

const startProduction = ({ database, dataDir }: TestApp, variables: NodeJS.ProcessEnv = {}) =>
  startService(database.url, dataDir, { NODE_ENV: 'production', ...variables });

const metrics = () => readMetrics(app, ADMIN_TOKEN);

/** Responses are counted when they are over, which their readers may notice first. */
const finished = (labels: string) =>
  eventually(async () => {
    const name = `mintkeep_http_request_duration_seconds_count{${labels}}`;
    const count = (await metrics()).get(name);
    if (count === undefined) throw new Error(`nothing counted as ${name}`);
    return count;
  });

describe('GET /metrics', () => {
  it('is text for Prometheus, with the admin token', async () => {
    const { headers, text } = await app.anonymous
      .get('/metrics')
      .set({ Authorization: `Bearer ${ADMIN_TOKEN}`, 'If-None-Match': '*' }) // they are new each time
      .expect(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(text).toContain('# TYPE process_cpu_seconds_total counter');
  });

  it.each([
    ['nothing', undefined],
    ['another token', 'Bearer an-admin-token-of-a-tesT'],
    ['a part of the token', `Bearer ${ADMIN_TOKEN.slice(0, -1)}`],
    ['the token and more', `Bearer ${ADMIN_TOKEN}x`],
    ['no scheme', ADMIN_TOKEN],
    ['Basic', `Basic ${Buffer.from(`admin:${ADMIN_TOKEN}`).toString('base64')}`],
  ])('rejects %s', async (_, authorization) => {
    const request = app.anonymous.get('/metrics');
    if (authorization !== undefined) request.set('Authorization', authorization);
    const { body, headers } = await request.expect(401);
    expect(body).toEqual(TOKEN_REQUIRED);
    expect(headers['www-authenticate']).toBe('Bearer');
  });

  it('is open where there is no admin token', async () => {
    const open = await startApp({}, { database: app.database });
    await open.anonymous.get('/metrics').expect(200);
    await open.close();
  });

  it('does not exist in production without an admin token', async () => {
    const closed = await startProduction(app);
    for (const path of ['/metrics', '/metrics/', '/METRICS']) {
      const { body } = await closed.anonymous.get(path).set('Authorization', 'Bearer x').expect(404);
      expect(body).toEqual({ error: { message: 'not found' } });
    }
    await closed.anonymous.post('/metrics').expect(404);
    const { body: document } = await closed.anonymous.get('/openapi.json').expect(200);
    expect(document.paths).not.toHaveProperty('/metrics');
    await closed.end('SIGTERM');
  });

  it('takes the admin token in production', async () => {
    const production = await startProduction(app, { ADMIN_TOKEN });
    await production.anonymous.get('/metrics').expect(401);
    await readMetrics(production, ADMIN_TOKEN);
    await production.end('SIGTERM');
  });
});

it('counts requests by the route that matched, never by the path that was sent', async () => {
  const anna = await app.as('anna');
  await anna.get('/me/projects/4711?secret=1').expect(404);
  await anna.get('/no/such/path').expect(404);
  await anna.patch('/me/projects').expect(405);
  expect(await finished('method="GET",route="/me/projects/:projectId",status="404"')).toBe(1);
  expect(await finished('method="GET",route="unmatched",status="404"')).toBe(1);
  expect(await finished('method="PATCH",route="unmatched",status="405"')).toBe(1);
  expect([...(await metrics()).keys()].join()).not.toMatch(/4711|secret|no\/such/);
});

it('counts a request whose client did not wait as 499', async () => {
  const headers = { authorization: `Bearer ${await sessionFor('bob')}` };
  await (await app.as('bob')).get('/me/projects').expect(200);
  const locker = await connect(app.database);
  try {
    await locker.query('BEGIN; LOCK TABLE projects');
    const request = get(`${app.url}/me/projects`, { headers });
    const failed = once(request, 'error');
    await lockedOut(app.database, 1);
    request.destroy(new Error('the client has gone'));
    await failed;
    expect(await finished('method="GET",route="/me/projects",status="499"')).toBe(1);
  } finally {
    await locker.end();
  }
});

it('measures database and object storage, and says how much waits for them', async () => {
  const anna = await app.as('anna');
  const { body: project } = await anna.post('/me/projects').send({ name: 'Measured' }).expect(201);
  const document = { title: 't', slug: 's', content: 'c' };
  const puts = 'mintkeep_storage_call_duration_seconds_count{operation="put",outcome="ok"}';
  const putsBefore = (await metrics()).get(puts) ?? 0;
  await anna.post(`/me/projects/${project.id}/documents`).send(document).expect(201);
  const figures = await metrics();
  const value = (name: string) => figures.get(name);
  expect(value(puts)).toBe(putsBefore + 1);
  expect(value('mintkeep_database_query_duration_seconds_count{outcome="ok"}')).toBeGreaterThan(3);
  // A read that takes too long leaves a figure out.
  await eventually(async () => {
    const current = await metrics();
    for (const name of [
      'mintkeep_deletion_queue_objects',
      'mintkeep_mail_queue_messages',
      'mintkeep_storage_waiting_requests',
      'mintkeep_database_waiting_requests',
    ]) {
      expect([name, current.get(name)]).toEqual([name, 0]);
    }
  });
  expect(value('mintkeep_database_busy_connections')).toBeGreaterThanOrEqual(0);
});

it('is described in docs/operations.md, all of it and nothing else', async () => {
  const variables = { ADMIN_TOKEN, USAGE_DATABASE_URL: app.database.url }; // has a metric of its own
  const complete = await startApp(variables, { database: app.database });
  const { text } = await complete.anonymous.get('/metrics').set('Authorization', `Bearer ${ADMIN_TOKEN}`);
  await complete.close();
  const told = [...text.matchAll(/^# TYPE (mintkeep_\w+)/gm)].map(([, name]) => name);
  const operations = await readFile('docs/operations.md', 'utf8');
  const described = new Set([...operations.matchAll(/`(mintkeep_(?!session)\w+)`/g)].map(([, name]) => name));
  expect([...described].sort()).toEqual(told.sort());
});

it('goes on telling the rest while the database is gone', async () => {
  const replica = await startApp({ ADMIN_TOKEN });
  await replica.database.rejectConnections();
  const figures = await readMetrics(replica, ADMIN_TOKEN);
  expect(figures.has('process_resident_memory_bytes')).toBe(true);
  expect(figures.has('mintkeep_mail_queue_messages')).toBe(false);
  await replica.database.acceptConnections();
  await replica.close();
});
