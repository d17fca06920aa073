import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { call, fillPool, mintKey } from '../support/proxy-client.js';
import { LAST_CHUNK, startRawUpstream, STREAM_HEADERS } from '../support/raw-upstream.js';
import type { RawUpstream } from '../support/raw-upstream.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';

/** Heap of the replica: too small for one object per byte of a few responses. */
const HEAP_MIB = 96;
const MIB = 1_048_576;
const RESPONSES = 4;
const JSON_HEADERS = STREAM_HEADERS.replace('text/event-stream', 'application/json');
const USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":2}';

let database: TestDatabase;
let service: Service;
let upstream: RawUpstream;
let owner: TestOwner;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  service = await startService(database.url, await temporaryFolder(), {
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  });
  upstream = await startRawUpstream(() => undefined);
  const admin = await service.as('anna');
  const { body } = await admin.get('/me/organizations').expect(200);
  owner = { base: '/me', organizationId: body.organizations[0].id as number, user: 'anna', admin };
  await fillPool(owner, upstream.url);
  key = await mintKey(owner);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await upstream.close();
  await database.drop();
});

/** Encodes the text in one-byte chunks. */
function toOneByteChunks(text: string): Buffer {
  const bytes = Buffer.alloc(6 * text.length, '1\r\n?\r\n');
  for (let i = 0; i < text.length; i++) bytes[6 * i + 3] = text.charCodeAt(i);
  return bytes;
}

const EVENT = `data: {"choices":[],"x":"${'x'.repeat(0.9 * MIB)}",${USAGE}}\n\n`;
const DOCUMENT = `{"x":"${'x'.repeat(0.9 * MIB)}",${USAGE}}`;

it.each([
  ['a line of a stream', STREAM_HEADERS, `data: {"choices":[]}\n\n${EVENT}`],
  ['a first event', STREAM_HEADERS, EVENT],
  ['an object', JSON_HEADERS, DOCUMENT],
])('relays %s in one-byte chunks and reads its usage', async (_what, head, text) => {
  await database.query('DELETE FROM usage_records');
  const bytes = Buffer.concat([Buffer.from(head), toOneByteChunks(text), Buffer.from(LAST_CHUNK)]);
  upstream.respond = ({ socket }) => socket.write(bytes);
  const replies = await inParallel(RESPONSES, () =>
    call(service, key, { body: '{"stream":true,"stream_options":{"include_usage":true}}' }),
  );
  for (const reply of replies) expect([reply.complete, reply.text === text]).toEqual([true, true]);
  await eventually(async () => {
    const records = await database.query('SELECT outcome, total_tokens::int FROM usage_records');
    expect(records).toEqual(replies.map(() => ({ outcome: 'ok', total_tokens: 3 })));
  });
});
