import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { caddy, haproxy, startDocumentedBalancer } from '../support/documented-balancer.js';
import type { DocumentedBalancer, DocumentedProgram } from '../support/documented-balancer.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { freePort } from '../support/free-port.js';
import { call } from '../support/proxy-client.js';
import { CADDY, CADDY_PATH, describeWith, HAPROXY, HAPROXY_PATH } from '../support/requirements.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { sessionFor } from '../support/sessions.js';
import { openSocket } from '../support/web-socket-client.js';
import { startWebSocketUpstream } from '../support/web-socket-upstream.js';

const MIN_REQUESTS = 300;
const OUTAGE_MS = 6_000;

function testBalancer(program: () => DocumentedProgram): void {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let balancer: DocumentedBalancer;
  let replicas: Service[];
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    upstream = await startUpstream((_request, response) => response.end('{"model":"m"}'));
    const ports = [await freePort(), await freePort()];
    const start = async (port: number) =>
      startService(database.url, await temporaryFolder(), {
        ...{ PORT: String(port), TRUST_PROXY: '127.0.0.1', UPSTREAM_PRIVATE_NETWORKS: 'allow' },
        ...{ KEY_GRACE_SECONDS: '3600', LOG_LEVEL: 'fatal' },
      });
    replicas = await Promise.all(ports.map(start));
    balancer = await startDocumentedBalancer(program(), ports);
    key = await makeKey('ann', upstream.url);
    await eventually(async () => expect((await call(balancer, key)).status).toBe(200));
  });
  afterAll(async () => {
    await balancer?.stop();
    await Promise.all(replicas.map((replica) => replica.end('SIGTERM')));
    await upstream.close();
    await database.drop();
  });

  async function makeKey(user: string, baseUrl: string): Promise<string> {
    const headers = { authorization: `Bearer ${await sessionFor(user)}` };
    const post = async (path: string, body: object) =>
      fetch(`${replicas[0]!.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await post('/me/upstreams', { name: 'Fake', base_url: baseUrl, api_key: 'sk-fake-0000' });
    return ((await (await post('/me/keys', {})).json()) as { api_key: string }).api_key;
  }

  const statusOf = async (path: string) => (await fetch(`${balancer.url}${path}`)).status;

  it('fails no request with a known key while PostgreSQL is away, and none when it is back', async () => {
    const known = await Promise.all(replicas.map(async (replica) => (await call(replica, key)).status));
    expect(known).toEqual([200, 200]);
    const statuses: number[] = [];
    let over = false;
    const work = (async () => {
      while (!over) statuses.push((await call(balancer, key, { body: '{"model":"m"}' })).status);
    })();
    await database.rejectConnections();
    // Longer than two checks: a common check would have taken both replicas out.
    await eventually(async () => expect(await statusOf('/readyz')).toBe(503));
    const until = performance.now() + OUTAGE_MS;
    await eventually(() => {
      expect(performance.now()).toBeGreaterThan(until);
      expect(statuses.length).toBeGreaterThan(MIN_REQUESTS);
    }, 60_000);
    await database.acceptConnections();
    await eventually(async () => expect(await statusOf('/readyz')).toBe(200));
    over = true;
    await work;
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('passes WebSockets on, and keeps the metrics', async () => {
    const provider = await startWebSocketUpstream();
    provider.respond = (message, socket) => socket.send(`echo ${message}`);
    const { socket, messages, closed } = await openSocket(balancer, await makeKey('bob', provider.url));
    socket.send('hello');
    await eventually(() => expect(messages).toEqual(['echo hello']));
    socket.close();
    await closed;
    for (const path of ['/metrics', '/METRICS/', '/%6detrics'])
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    await provider.close();
  });
}

describeWith(HAPROXY, 'HAProxy as in the documentation', () => testBalancer(() => haproxy(HAPROXY_PATH!)));
describeWith(CADDY, 'Caddy as in the documentation', () => testBalancer(() => caddy(CADDY_PATH!)));
