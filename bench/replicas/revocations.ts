import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../support/connection.js';
import { runOpenLoop } from '../support/open-loop.js';
import type { Lab } from './lab.js';
import { createKey, spreadEvenly } from './mixes.js';
import type { Options } from './options.js';

export interface Revocations {
  /** Times from the request of each revocation to its response, ascending. */
  readonly timesMs: Float64Array;
  /** Number of requests that were served after the response. */
  readonly served: number;
}

const INTERVAL_MS = 50;
/** First revocations, whose times do not count: their code is not compiled yet. */
const WARM_UP = 20;

/** Revokes keys one after the other while the replicas serve requests with other keys. */
export async function measureRevocations(
  { requests, session }: Lab,
  ports: readonly number[],
  { perSecond, seconds }: Options,
): Promise<Revocations> {
  const targets = spreadEvenly(requests['without limits'], ports);
  let isOver = false;
  const load = runOpenLoop({ targets, perSecond, seconds }).finally(() => (isOver = true));
  load.catch(() => undefined); // awaited below
  const clients = await Promise.all(ports.map((port) => openClient(port)));
  const times: number[] = [];
  let served = 0;
  try {
    for (let i = 0; !isOver; i++) {
      const outcome = await revoke(clients, clients[i % clients.length]!, session);
      if (i >= WARM_UP) times.push(outcome.ms);
      served += outcome.served;
      await delay(INTERVAL_MS);
    }
  } finally {
    for (const { api, proxy } of clients) [api, proxy].forEach((connection) => connection.close());
  }
  await load;
  return { timesMs: Float64Array.from(times).sort(), served };
}

/** Connections to one replica. */
interface Client {
  readonly port: number;
  readonly api: Connection;
  readonly proxy: Connection;
}

async function openClient(port: number): Promise<Client> {
  return { port, api: await Connection.open(port), proxy: await Connection.open(port) };
}

/** Revokes a new key through one replica, after all of them have cached the key. */
async function revoke(
  clients: readonly Client[],
  revoker: Client,
  session: string,
): Promise<{ ms: number; served: number }> {
  const { id, request } = await createKey(revoker.port, session);
  const statuses = async () =>
    (await Promise.all(clients.map(({ proxy }) => proxy.send(request)))).map(({ status }) => status);
  for (const status of await statuses()) assertStatus('a request with a new key', status, 200);
  const { status, doneMs: ms } = await revoker.api.send(revocation(id, session));
  assertStatus('the revocation', status, 204);
  const rejections = (await statuses()).filter((each) => each !== 200);
  for (const each of rejections) assertStatus('a request with a revoked key', each, 401);
  return { ms, served: clients.length - rejections.length };
}

function revocation(id: number, session: string): Buffer {
  const headers = `Host: 127.0.0.1\r\nAuthorization: Bearer ${session}`;
  return Buffer.from(`DELETE /me/keys/${id} HTTP/1.1\r\n${headers}\r\n\r\n`);
}

function assertStatus(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${what} has the status ${actual} instead of ${expected}`);
}
