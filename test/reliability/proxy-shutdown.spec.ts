import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { fillPool, mintKey, open } from '../support/proxy-client.js';
import { chunk, LAST_CHUNK, startRawUpstream, STREAM_HEADERS } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';

const STREAMS = 5;
const CONTENT = 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n';
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';

let database: TestDatabase;
let service: Service;
let upstream: RawUpstream;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  service = await startService(database.url, await temporaryFolder(), { UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  upstream = await startRawUpstream(() => undefined);
  const admin = await service.as('anna');
  const { body } = await admin.get('/me/organizations').expect(200);
  const owner = { base: '/me', organizationId: body.organizations[0].id as number, user: 'anna', admin };
  await fillPool(owner, upstream.url);
  key = await mintKey(owner);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await upstream.close();
  await database.drop();
});

async function connecting(): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(socket, 'connect').finally(() => socket.destroy());
}

it('streams go on to their end after SIGTERM, nothing new is accepted, and all is recorded', async () => {
  const sockets: Socket[] = [];
  upstream.respond = ({ socket }) => {
    sockets.push(socket);
    socket.write(STREAM_HEADERS + chunk(CONTENT).toString());
  };
  const agent = new Agent({ keepAlive: true });
  const responses = await Promise.all(
    Array.from({ length: STREAMS }, () => open(service, key, { body: '{"stream":true}', agent })),
  );
  const texts = responses.map(() => '');
  responses.forEach((response, i) => response.on('data', (data: Buffer) => (texts[i] += data.toString())));
  await eventually(() => expect(texts).toEqual(responses.map(() => CONTENT)));

  const exit = service.end('SIGTERM');
  await eventually(() => expect(connecting()).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
  for (const socket of sockets) socket.write(chunk(CONTENT));
  await eventually(() => expect(texts).toEqual(responses.map(() => CONTENT + CONTENT)));
  const ends = responses.map((response) => once(response, 'end'));
  for (const socket of sockets) socket.write(chunk(USAGE).toString() + LAST_CHUNK);
  await Promise.all(ends);
  expect(responses.map(({ complete }) => complete)).toEqual(responses.map(() => true));

  expect(await exit).toEqual({ code: 0, signal: null });
  expect(upstream.requests).toHaveLength(STREAMS);
  expect(await database.query('SELECT outcome, total_tokens::int FROM usage_records')).toEqual(
    responses.map(() => ({ outcome: 'ok', total_tokens: 3 })),
  );
  agent.destroy();
});
