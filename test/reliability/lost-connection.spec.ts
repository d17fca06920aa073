import { createDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startS3Proxy } from '../support/s3-proxy.js';
import { startS3 } from '../support/s3.js';
import { startService, temporaryFolder } from '../support/service.js';

it('logs the reason of PostgreSQL if it ends a connection during an update', async () => {
  const database = await createDatabase();
  const s3 = await startS3();
  const proxy = await startS3Proxy(s3.endpoint);
  const service = await startService(database.url, await temporaryFolder(), {
    ...{
      MINIO_ENDPOINT: proxy.endpoint.href,
      MINIO_ACCESS_KEY: s3.accessKey,
      MINIO_SECRET_KEY: s3.secretKey,
    },
    LOG_LEVEL: 'error',
  });
  const agent = await service.as('ann');
  const { body: project } = await agent.post('/me/projects').send({ name: 'Handbook' }).expect(201);
  const url = `/me/projects/${project.id}/documents`;
  const { body: document } = await agent
    .post(url)
    .send({ title: 't', slug: 's', content: 'one' })
    .expect(201);
  const isBody = (method: string, key: string) => method === 'PUT' && key.startsWith('documents/');
  // The update gives up after 5 s: then a busy machine has ended no connection, and needs another update.
  await eventually(async () => {
    proxy.onRequest = (method, key) => (isBody(method, key) ? 'hang' : 'pass');
    const update = agent.put(`${url}/${document.id}`).send({ content: 'two' }).expect(500);
    const response = update.then(({ body }) => body as object);
    await eventually(() => expect(proxy.waiting()).toBe(1));
    const ended = await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database
       WHERE datname = current_database() AND locktype = 'advisory' AND objid = ${document.id}`,
    );
    await proxy.recover();
    expect(await response).toEqual({ error: { message: 'internal error' } });
    expect(ended).toHaveLength(1);
  }, 5_000);
  await eventually(() =>
    expect(service.stdout()).toContain('terminating connection due to administrator command'),
  );
  expect(service.stdout()).not.toContain('QueryRunnerAlreadyReleased');
  await eventually(async () => {
    const { body } = await agent.get(`${url}/${document.id}`).expect(200);
    expect(['one', 'two']).toContain(body.content);
  });
  await service.end('SIGTERM');
  await proxy.stop();
  await s3.stop();
  await database.drop();
});
