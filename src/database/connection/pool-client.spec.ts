import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createDatabase } from '../../../test/support/database.js';
import type { TestDatabase } from '../../../test/support/database.js';
import { eventually } from '../../../test/support/eventually.js';
import { startTcpProxy } from '../../../test/support/tcp-proxy.js';
import type { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { createObservedClient, PoolClient } from './pool-client.js';

const SILENCE_LIMIT_MS = 3_000;
const POOL_SIZE = 3;
const PAUSE_MS = 100;

describe('a database that stops responding', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let pool: pg.Pool;
  let observed: string[];

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startTcpProxy(database.url);
    observed = [];
    const Client = createObservedClient(SILENCE_LIMIT_MS, (outcome) => observed.push(outcome));
    pool = new pg.Pool({
      connectionString: proxy.url,
      max: POOL_SIZE,
      connectionTimeoutMillis: 30_000,
      Client,
    });
    pool.on('error', () => undefined);
  });
  afterEach(async () => {
    await pool.end();
    await proxy.stop();
    await database.drop();
  });

  const askAll = () =>
    Promise.allSettled(Array.from({ length: POOL_SIZE }, () => pool.query('SELECT 1 AS one')));
  const outcomes = async () => (await askAll()).map(({ status }) => status);
  const all = (outcome: string) => Array.from({ length: POOL_SIZE }, () => outcome);

  it('fails pending statements and frees their places in the pool', async () => {
    expect(await outcomes()).toEqual(all('fulfilled'));
    proxy.hang();
    expect(await outcomes()).toEqual(all('rejected'));
    expect(observed).toEqual([...all('ok'), ...all('failed')]);
    proxy.comeBack(database.url);
    await eventually(async () => expect(await outcomes()).toEqual(all('fulfilled')));
  });

  it('ends a transaction', async () => {
    const client = await pool.connect();
    client.on('error', () => undefined);
    await client.query('BEGIN');
    proxy.hang();
    await expect(client.query('SELECT 1')).rejects.toThrow('terminated');
    await expect(client.query('ROLLBACK')).rejects.toThrow();
    client.release();
    expect(pool.totalCount).toBe(0);
  });

  it('is not assumed when the response arrived during a stall of the event loop', async () => {
    const Client = createObservedClient(SILENCE_LIMIT_MS, () => undefined);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const answer = client.query('SELECT 1 AS one');
    setImmediate(() => {
      const never = new Int32Array(new SharedArrayBuffer(4));
      // Many pauses, so that the database has time to respond after a standstill of the machine, too.
      for (let i = 0; i <= SILENCE_LIMIT_MS / PAUSE_MS; i++) Atomics.wait(never, 0, 0, PAUSE_MS);
    });
    expect((await answer).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  it('does not close idle connections', async () => {
    const client = await pool.connect();
    for (let i = 0; i < 6; i++) await client.query('SELECT pg_sleep($1)', [(SILENCE_LIMIT_MS / 1_000) * 0.2]);
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    client.release();
    expect(pool.totalCount).toBe(1);
  });
});

it('closes a connection that rejects writes, inside and outside a transaction', async () => {
  const database = await createDatabase();
  const Client = createObservedClient(SILENCE_LIMIT_MS, () => undefined);
  const pool = new pg.Pool({ connectionString: database.url, Client });
  for (const begin of ['BEGIN', 'SELECT 1']) {
    const client = await pool.connect();
    await client.query('SET default_transaction_read_only = on');
    await client.query(begin);
    await expect(client.query('CREATE TABLE forbidden ()')).rejects.toMatchObject({ code: '25006' });
    client.release();
    expect(pool.totalCount).toBe(0);
  }
  await pool.query('CREATE TABLE allowed ()');
  await pool.end();
  await database.drop();
});

/** The end of a connection, by an administrator. */
const FATAL = message('E', 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
const AUTHENTICATED = message('R', '\0\0\0\0');
const READY = message('Z', 'I');

function message(type: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, Buffer.from(body, 'latin1')]);
}

it('a connection that is opened and closed within one packet fails statements, not the process', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, FATAL])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'mintkeep', Client: PoolClient });
  const client = await pool.connect();
  await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
  client.release();
  expect(pool.totalCount).toBe(0);
  await pool.end();
  server.close();
});
