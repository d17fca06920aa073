import { jest } from '@jest/globals';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

let app: TestApp;
afterEach(async () => {
  jest.restoreAllMocks();
  await app.close();
});

const statusOf = async (path: string) => (await app.anonymous.get(path)).status;

it('readiness of the proxy lasts for the grace period without PostgreSQL, and comes back with it', async () => {
  app = await startApp({ KEY_GRACE_SECONDS: '3600' });
  const { body } = await app.anonymous.get('/readyz?for=proxy').expect(200);
  expect(body).toEqual({ status: 'ok', checks: { database: 'ok' } });
  await app.database.rejectConnections();
  await eventually(async () => expect(await statusOf('/readyz')).toBe(503));
  const away = await app.anonymous.get('/readyz?for=proxy').expect(200);
  expect(away.body.status).toBe('ok');
  const now = performance.now.bind(performance);
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 3_600_000);
  const lost = await app.anonymous.get('/readyz?for=proxy').expect(503);
  expect(lost.body).toEqual({ status: 'unavailable', checks: { database: 'failed' } });
  clock.mockRestore();
  await app.database.acceptConnections();
  await eventually(async () => expect(await statusOf('/readyz?for=proxy')).toBe(200));
});

it('readiness of the proxy ends when the service stops', async () => {
  app = await startApp({ SHUTDOWN_DELAY_MS: '5000' });
  const closing = app.app.close();
  const { body } = await eventually(() => app.anonymous.get('/readyz?for=proxy').expect(503));
  expect(body.status).toBe('shutting down');
  await closing;
});

it.each(['documents', '', 'proxy&for=proxy'])('readiness of the part %j does not exist', async (part) => {
  app = await startApp();
  const { body } = await app.anonymous.get(`/readyz?for=${part}`).expect(400);
  expect(body.error.message).toBe('for must be proxy, or absent');
});
