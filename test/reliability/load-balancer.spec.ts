import { once } from 'node:events';
import { Agent } from 'node:http';
import type { ServerResponse } from 'node:http';
import supertest from 'supertest';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { beginLogin, decide, KEY, letPass, poll } from '../support/device-flow.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { readMetrics } from '../support/metrics.js';
import { freePort } from '../support/free-port.js';
import { startBalancer } from '../support/nginx.js';
import type { Balancer } from '../support/nginx.js';
import { inParallel, tally } from '../support/parallel.js';
import { call, open } from '../support/proxy-client.js';
import { describeWith, NGINX } from '../support/requirements.js';
import { startS3 } from '../support/s3.js';
import type { S3 } from '../support/s3.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { sessionFor } from '../support/sessions.js';
import { openSocket } from '../support/web-socket-client.js';
import { startWebSocketUpstream } from '../support/web-socket-upstream.js';

describeWith(NGINX, 'the load balancer', () => {
  let database: TestDatabase;
  let s3: S3;
  let upstream: FakeUpstream;
  let balancer: Balancer;
  let ports: number[];
  const replicas: Service[] = [];
  /** Response of the upstream to its next request. */
  let answer: (response: ServerResponse) => void = (response) => response.end('{}');

  const start = async (port: number) =>
    startService(database.url, await temporaryFolder(), {
      ...{ PORT: String(port), TRUST_PROXY: '127.0.0.1', DEVICE_CODES_PER_MINUTE: '6' },
      ...{ UPSTREAM_PRIVATE_NETWORKS: 'allow', LOG_LEVEL: 'warn' },
      ...{ MINIO_ENDPOINT: s3.endpoint.href, MINIO_ACCESS_KEY: s3.accessKey, MINIO_SECRET_KEY: s3.secretKey },
    });

  beforeAll(async () => {
    database = await createDatabase();
    s3 = await startS3();
    upstream = await startUpstream((_request, response) => answer(response));
    ports = [await freePort(), await freePort()];
    replicas.push(...(await Promise.all(ports.map(start))));
    balancer = await startBalancer(ports, upstream.port);
  });
  afterAll(async () => {
    await balancer.stop();
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    await upstream.close();
    await s3.stop();
    await database.drop();
  });

  /** The service as its users see it. */
  const behind = {
    get url() {
      return balancer.url;
    },
    get anonymous() {
      return supertest.agent(balancer.url);
    },
  };
  const as = async (user: string, url = balancer.url) =>
    supertest.agent(url).set('Authorization', `Bearer ${await sessionFor(user)}`);

  /** How many requests a replica has answered on a route. */
  async function answered(replica: Service, route: string): Promise<number> {
    const figures = [...(await readMetrics(replica))];
    const ours = figures.filter(
      ([name]) =>
        name.startsWith('mintkeep_http_request_duration_seconds_count') && name.includes(`"${route}"`),
    );
    return ours.reduce((sum, [, count]) => sum + count, 0);
  }

  async function keyOf(user: string): Promise<{ id: number; api_key: string }> {
    return (await (await as(user)).post('/me/keys').expect(201)).body;
  }

  async function withPool(user: string): Promise<void> {
    const agent = await as(user);
    const fields = { name: 'Fake', base_url: upstream.url, api_key: 'the-key-of-the-fake' };
    await agent.post('/me/upstreams').send(fields).expect(201);
  }

  it('lets a device log in, whichever replica its requests land on', async () => {
    const anna = await as('anna');
    const device = await beginLogin(behind, { name: 'cli' });
    for (let i = 0; i < 4; i++) {
      expect(await poll(behind, device.device_code)).toBe('429 authorization_pending');
      await letPass({ database }, 5);
    }
    await decide(anna, device.user_code, 'approve').expect(200);
    expect(await poll(behind, device.device_code)).toMatch(KEY);
    // A replica that connects slowly is left alone for a second.
    await eventually(async () => {
      expect(await poll(behind, device.device_code)).toBe('400 expired_token');
      for (const replica of replicas)
        expect(await answered(replica, '/auth/device/token')).toBeGreaterThan(1);
    });
  });

  it('passes on what a client sends first, and every piece of a stream as it comes', async () => {
    await withPool('streamer');
    const { api_key: key } = await keyOf('streamer');
    let response!: ServerResponse;
    const begun = new Promise<void>((resolve) => {
      answer = (opened) => {
        response = opened;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"n":0}\n\n');
        resolve();
      };
    });
    const stream = await open(behind, key, { body: '{"model":"m","stream":true}' });
    await begun;
    stream.setEncoding('utf8');
    for (let n = 0; n < 5; n++) {
      const [piece] = (await once(stream, 'data')) as [string];
      expect(piece).toBe(`data: {"n":${n}}\n\n`); // the next one is not even sent
      if (n < 4) response.write(`data: {"n":${n + 1}}\n\n`);
    }
    response.end('data: [DONE]\n\n');
    await once(stream, 'end');
  });

  it('passes WebSockets on, and closes them on both replicas when their key is revoked', async () => {
    const provider = await startWebSocketUpstream();
    provider.respond = (message, socket) => socket.send(`echo ${message}`);
    const agent = await as('talker');
    const fields = { name: 'Realtime', base_url: provider.url, api_key: 'the-key-of-the-fake' };
    await agent.post('/me/upstreams').send(fields).expect(201);
    const { id, api_key: key } = await keyOf('talker');
    const sockets = await inParallel(10, () => openSocket(behind, key));
    for (const { socket } of sockets) socket.send('hello');
    for (const { messages } of sockets) await eventually(() => expect(messages).toEqual(['echo hello']));
    await agent.delete(`/me/keys/${id}`).expect(204);
    for (const { closed } of sockets) expect(await closed).toEqual([1_008, 'invalid_proxy_key']);
    await provider.close();
  });

  it('serves a revoked key from neither replica from then on', async () => {
    await withPool('revoker');
    answer = (response) => response.end('{}');
    const agent = await as('revoker');
    const places = [...replicas, behind];
    for (let round = 0; round < 5; round++) {
      const { id, api_key: key } = await keyOf('revoker');
      const ask = () => Promise.all(places.map((place) => call(place, key, { body: '{}' })));
      for (const reply of await ask()) expect(reply.status).toBe(200);
      await agent.delete(`/me/keys/${id}`).expect(204);
      for (const reply of await ask()) expect(reply.status).toBe(401);
    }
  });

  it('counts limits together, by the address that the client really has', async () => {
    const ask = (address: string) =>
      behind.anonymous.post('/auth/device/code').set('X-Forwarded-For', address).send({});
    const statuses = (await inParallel(12, () => ask('203.0.113.7'))).map(({ status }) => status);
    expect(tally(statuses)).toEqual({ 200: 6, 429: 6 });
    await ask('203.0.113.8').expect(200);
    const [row] = await database.query<{ ips: string[] }>(
      `SELECT array_agg(DISTINCT ip) AS ips FROM device_sessions WHERE ip LIKE '203.%'`,
    );
    expect(row!.ips.sort()).toEqual(['203.0.113.7', '203.0.113.8']);
  });

  it('lets users write and read documents, whichever replica they meet', async () => {
    const anna = await as('writer');
    const { body: project } = await anna.post('/me/projects').send({ name: 'Shared' }).expect(201);
    const documents = `/me/projects/${project.id}/documents`;
    const fields = { title: 't', slug: 's', content: 'x'.repeat(1_000_000) };
    const { body: document } = await anna.post(documents).send(fields).expect(201);
    for (const replica of replicas) {
      const { body } = await (await as('writer', replica.url)).get(`${documents}/${document.id}`).expect(200);
      expect(body.content).toHaveLength(1_000_000);
    }
  });

  it('shows the identity provider, and nobody the figures', async () => {
    answer = (response) => response.end('{"name":"identity provider"}');
    const { text } = await behind.anonymous.get('/identity/health').expect(200);
    expect(text).toBe('{"name":"identity provider"}');
    expect(upstream.requests.at(-1)).toMatchObject({ url: '/health' });
    for (const path of ['/metrics', '/metrics/', '/METRICS']) await behind.anonymous.get(path).expect(404);
  });

  it('tells the identity provider who the client is, as what ends TLS says, and as nobody else does', async () => {
    answer = (response) => response.end('{}');
    const askedBy = async (url: string) => {
      const forged = { 'X-Real-IP': '198.51.100.1', 'X-Forwarded-For': '198.51.100.2, 203.0.113.9' };
      await supertest(url).post('/identity/otp').set(forged).send({}).expect(200);
      const { 'x-real-ip': client, 'x-forwarded-for': hops } = upstream.requests.at(-1)!.headers;
      return [client, String(hops).split(', ').at(-1)];
    };
    expect(await askedBy(balancer.url)).toEqual(['127.0.0.1', '127.0.0.1']);
    const behindTls = await startBalancer(ports, upstream.port, { TLS_PROXY: '127.0.0.1' });
    expect(await askedBy(behindTls.url).finally(() => behindTls.stop())).toEqual([
      '203.0.113.9',
      '203.0.113.9',
    ]);
  });

  describe('a rolling restart under load', () => {
    const WORKERS = 8;
    let isOver: boolean;
    let failures: string[];
    let created: number;
    let agent: Agent;

    beforeEach(() => {
      [isOver, failures, created] = [false, [], 0];
      agent = new Agent({ keepAlive: true, maxSockets: WORKERS });
    });
    afterEach(() => {
      isOver = true;
      agent.destroy();
    });

    /** Sends requests of all kinds in turn; every unexpected response is a failure. */
    async function work(worker: number, key: string): Promise<void> {
      const session = await sessionFor(`roller-${worker}`); // one owner for each: projects have a cap
      for (let n = 0; !isOver; n++) {
        const body = JSON.stringify({ name: `project ${worker} ${n}` });
        const requests: [string, object][] = [
          [session, { path: '/me/projects', body }],
          [session, { path: '/me/keys' }],
          [key, { path: '/v1/chat/completions', body: '{"model":"m"}' }],
        ];
        for (const [credential, options] of requests) {
          try {
            const { status, complete, text } = await call(behind, credential, { ...options, agent });
            if (status === 201) created++;
            if (status > 201 || !complete) failures.push(`${JSON.stringify(options)}: ${status} ${text}`);
          } catch (error) {
            failures.push(`${JSON.stringify(options)}: ${String(error)}`);
          }
        }
      }
    }

    async function countProjects(person: string): Promise<number> {
      const { body } = await (await as(person)).get('/me/projects').expect(200);
      return body.projects.length as number;
    }

    /** Restarts a replica like docs/deployment.md: stop, start, wait until it is ready and the balancer has noticed. */
    async function restart(index: number): Promise<void> {
      expect(await replicas[index]!.end('SIGTERM')).toEqual({ code: 0, signal: null });
      const replica = await start(ports[index]!);
      replicas[index] = replica;
      await eventually(async () => expect(await answered(replica, '/me/projects')).toBeGreaterThan(10));
    }

    it('fails no request, a POST as little as a GET, and does none twice', async () => {
      await withPool('roller');
      answer = (response) => response.end('{}');
      const { api_key: key } = await keyOf('roller');
      const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker, key));
      await eventually(() => expect(created).toBeGreaterThan(50));
      for (const index of [0, 1]) await restart(index);
      isOver = true;
      await Promise.all(workers);
      expect(failures.length === 0 ? [] : [...failures, balancer.complaints()]).toEqual([]);
      const stored = await Promise.all(workers.map((_, worker) => countProjects(`roller-${worker}`)));
      expect(stored.reduce((sum, count) => sum + count)).toBe(created);
      expect(created).toBeGreaterThan(100);
    }, 600_000);
  });
});
