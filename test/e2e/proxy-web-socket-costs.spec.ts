import type { WebSocket } from 'ws';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ownerWith } from '../support/proxy-client.js';
import { recordOf } from '../support/recorded.js';
import { openSocket } from '../support/web-socket-client.js';
import type { TestSocket } from '../support/web-socket-client.js';
import { startWebSocketUpstream } from '../support/web-socket-upstream.js';
import type { WebSocketUpstream } from '../support/web-socket-upstream.js';

let app: TestApp;
let upstream: WebSocketUpstream;

beforeAll(async () => {
  app = await startApp({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  upstream = await startWebSocketUpstream();
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const event = (type: string, response: object = {}) => JSON.stringify({ type, response });
const PRICED = event('response.done', { usage: { input_tokens: 1_000_000, output_tokens: 0 } });

/** Sends one message to an upstream that responds with events, and returns the cost of the connection. */
async function costAfter(
  events: readonly string[],
  end: (connection: TestSocket, accepted: WebSocket) => void,
): Promise<unknown> {
  const { owner, key } = await ownerWith(app, upstream.url);
  await owner.admin
    .put('/me/prices')
    .send({ prices: [{ model: 'gpt-realtime', input: 0.25, output: 0 }] })
    .expect(200);
  upstream.respond = (_message, socket) => events.forEach((text) => socket.send(text));
  const connection = await openSocket(app, key);
  connection.socket.send('{"type":"response.create"}');
  await eventually(() => expect(connection.messages).toHaveLength(events.length));
  end(connection, upstream.sockets.at(-1)!);
  await connection.closed;
  const { cost_usd, price_source } = await recordOf(
    owner,
    connection.response.headers['x-request-id'] as string,
  );
  return { cost_usd, price_source };
}

const close = ({ socket }: TestSocket) => socket.close();
const breakOff = (_: TestSocket, accepted: WebSocket) => accepted.terminate();
const leave = ({ socket }: TestSocket) => socket.terminate();
const CREATED = event('response.created');
const KNOWN = { cost_usd: 0.5, price_source: 'own' };
const UNKNOWN = { cost_usd: null, price_source: 'none' };

describe('the cost of a connection', () => {
  it.each<[string, string[], typeof close | typeof breakOff, object]>([
    [
      'stays known after a response without figures',
      [PRICED, PRICED, event('response.failed')],
      close,
      KNOWN,
    ],
    ['becomes known by a later response', [event('response.failed'), PRICED, PRICED], close, KNOWN],
    ['stays known when a later response is cut off', [PRICED, PRICED, CREATED], breakOff, KNOWN],
    ['is unknown if no response had figures', [CREATED, event('response.failed')], close, UNKNOWN],
    ['is unknown if the first response is cut off', [CREATED], breakOff, UNKNOWN],
    ['is unknown if the client leaves during the first response', [CREATED], leave, UNKNOWN],
  ])('%s', async (_description, events, end, expected) => {
    expect(await costAfter(events, end)).toEqual(expected);
  });
});

it('prices a response by the model that the upstream names, not by the query of another API', async () => {
  const { owner, key } = await ownerWith(app, upstream.url);
  const prices = [
    { model: 'cheap', input: 0, output: 0 },
    { model: 'gpt-5', input: 2, output: 0 },
  ];
  await owner.admin.put('/me/prices').send({ prices }).expect(200);
  const response = { model: 'gpt-5', usage: { input_tokens: 1_000_000, output_tokens: 0 } };
  upstream.respond = (_message, socket) => socket.send(event('response.completed', response));
  const connection = await openSocket(app, key, { path: '/v1/responses?model=cheap' });
  connection.socket.send('{"type":"response.create","model":"gpt-5"}');
  await eventually(() => expect(connection.messages).toHaveLength(1));
  connection.socket.close();
  const record = await recordOf(owner, connection.response.headers['x-request-id'] as string);
  expect(record).toMatchObject({ cost_usd: 2, price_source: 'own' });
});
