import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { freePort } from '../../test/support/free-port.js';
import { describeObjectStore, keysOf } from '../../test/support/object-store-contract.js';
import { startS3 } from '../../test/support/s3.js';
import type { S3 } from '../../test/support/s3.js';
import { MinioObjectStore } from './minio.object-store.js';
import type { ObjectStore } from './object-store.js';
import { StorageUnavailable } from './storage.errors.js';

const LONG_MS = 60_000;
const body = Buffer.from('body');

const CALLS: [string, (store: ObjectStore) => Promise<unknown>][] = [
  ['put', (store) => store.put('documents/1', body)],
  ['get', (store) => store.get('documents/1')],
  ['delete', (store) => store.delete('documents/1')],
  ['list', (store) => keysOf(store)],
  ['check', (store) => store.check()],
  ['prepare', (store) => store.prepare()],
];

const credentials = { accessKey: 'S3RVER', secretKey: 'S3RVER', bucket: 'mintkeep', region: 'us-east-1' };

/** Lets the deadlines of calls pass, which the calls reach long after their connections. */
function passDeadlines(timers: jest.SpiedFunction<typeof setTimeout>): void {
  for (const [onTimeout, delayMs] of timers.mock.calls) if (delayMs === LONG_MS) onTimeout();
}

function storeAt(port: number, timeoutMs = LONG_MS): MinioObjectStore {
  return new MinioObjectStore({ ...credentials, endpoint: new URL(`http://127.0.0.1:${port}`) }, timeoutMs);
}

const portOf = ({ endpoint }: S3) => Number(endpoint.port);

describeObjectStore('MinioObjectStore', async () => {
  const s3 = await startS3();
  const store = storeAt(portOf(s3));
  await store.prepare();
  return { store, close: () => s3.stop() };
});

describe('MinioObjectStore at an S3 service', () => {
  let folder: string;
  let s3: S3;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mintkeep-s3-'));
    s3 = await startS3({ folder, port: await freePort() }); // the port is free for the next start
  });
  afterEach(async () => {
    await s3.stop();
    await rm(folder, { recursive: true });
  });

  it('is not ready without its bucket, and does not report its objects as absent', async () => {
    const store = storeAt(portOf(s3));
    const notPrepared = CALLS.filter(([name]) => name !== 'delete' && name !== 'prepare');
    for (const [, call] of notPrepared) await expect(call(store)).rejects.toThrow(StorageUnavailable);
    await Promise.all([store.prepare(), storeAt(portOf(s3)).prepare()]);
    await store.check();
  });

  it('is unavailable with wrong credentials', async () => {
    const store = new MinioObjectStore({ ...s3, bucket: 'mintkeep', accessKey: 'stranger' }, LONG_MS);
    await expect(store.prepare()).rejects.toMatchObject({ cause: { code: 'AccessDenied' } });
    await expect(store.get('documents/1')).rejects.toMatchObject({ cause: { code: 'InvalidAccessKeyId' } });
  });

  it('works in another region', async () => {
    const store = new MinioObjectStore({ ...s3, bucket: 'mintkeep', region: 'eu-central-1' }, LONG_MS);
    await store.prepare();
    await store.put('documents/1', body);
    expect(await store.get('documents/1')).toEqual(body);
  });

  it('recovers when the service is back', async () => {
    const store = storeAt(portOf(s3));
    await store.prepare();
    await store.put('documents/1', body);
    await s3.stop();
    for (const [, call] of CALLS) await expect(call(store)).rejects.toThrow(StorageUnavailable);

    s3 = await startS3({ folder, port: portOf(s3) });
    await store.check();
    expect(await store.get('documents/1')).toEqual(body);
  });
});

describe('MinioObjectStore at a broken service', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  let timers: jest.SpiedFunction<typeof setTimeout>;

  beforeEach(() => {
    timers = jest.spyOn(globalThis, 'setTimeout');
  });
  afterEach(() => {
    timers.mockRestore();
    servers.splice(0).forEach((server) => server.close());
    sockets.splice(0).forEach((socket) => socket.destroy());
  });

  async function listen(server: Server): Promise<number> {
    servers.push(server.on('connection', (socket) => sockets.push(socket)).listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** A service that does with each connection what it is told; `connections` keeps them. */
  async function tcpService(onConnection: (socket: Socket, index: number) => void = () => undefined) {
    const connections: Socket[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      onConnection(socket, connections.push(socket) - 1);
    });
    return { port: await listen(server), connections };
  }

  const httpService = (listener: RequestListener) => listen(createHttpServer(listener));

  describe.each(CALLS)('%s', (_, call) => {
    it('ends at the deadline without a response, and closes the connection', async () => {
      const { port, connections } = await tcpService();
      const failure = expect(call(storeAt(port))).rejects.toThrow(StorageUnavailable);
      await eventually(() => expect(connections).toHaveLength(1));
      passDeadlines(timers);
      await failure;
      await closed(connections[0]!);
    });

    it('fails immediately when the connection is rejected', async () => {
      const failure = await call(storeAt(1)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StorageUnavailable);
      expect(failure).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    });

    it('fails immediately when the service resets every connection', async () => {
      const { port, connections } = await tcpService((socket) => socket.resetAndDestroy());
      await expect(call(storeAt(port))).rejects.toThrow(StorageUnavailable);
      expect(connections).toHaveLength(1);
    });

    it.each([403, 500, 503])('fails immediately on %d', async (status) => {
      const port = await httpService((_request, response) => response.writeHead(status).end());
      await expect(call(storeAt(port))).rejects.toThrow(StorageUnavailable);
    });

    it('fails when a web page of another service responds with 404', async () => {
      const port = await httpService((_request, response) =>
        response.writeHead(404).end('<html>not here</html>'),
      );
      await expect(call(storeAt(port))).rejects.toThrow(StorageUnavailable);
    });
  });

  it('ends a get at the deadline when the body stalls, and closes the connection', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf';
    const answered = jest.fn();
    const { port, connections } = await tcpService((socket) =>
      socket.once('data', () => socket.write(answer, answered)),
    );
    const failure = expect(storeAt(port).get('documents/1')).rejects.toThrow(StorageUnavailable);
    await eventually(() => expect(answered).toHaveBeenCalled());
    passDeadlines(timers);
    await failure;
    await closed(connections[0]!);
  });

  it('closes the connection of a get that the caller aborts', async () => {
    const { port, connections } = await tcpService((socket) => socket.once('data', () => caller.abort()));
    const caller = new AbortController();
    await expect(storeAt(port).get('documents/1', caller.signal)).rejects.toThrow(StorageUnavailable);
    await closed(connections[0]!);
  });

  it('ends a put at the deadline when the service does not read the body', async () => {
    const { port, connections } = await tcpService((socket) => socket.pause());
    const large = Buffer.alloc(32 * 1_048_576);
    const failure = expect(storeAt(port).put('documents/1', large)).rejects.toThrow(StorageUnavailable);
    await eventually(() => expect(connections).toHaveLength(1)); // more than the buffers of the connection hold
    passDeadlines(timers);
    await failure;
    await closed(connections[0]!.resume());
  });

  it.each([
    ['with a length', 'Content-Length: 100\r\n\r\nhalf'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['without a length', 'Connection: close\r\n\r\nhalf'],
  ])('does not take the beginning of a body for all of it: %s', async (_, rest) => {
    const { port } = await tcpService((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${rest}`)),
    );
    await expect(storeAt(port).get('documents/1')).rejects.toThrow(StorageUnavailable);
  });

  it('retries a read on a fresh connection when a reused one was closed', async () => {
    const { port, connections } = await tcpService((socket, index) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${index}`);
        socket.once('data', () => socket.resetAndDestroy());
      });
    });
    const store = storeAt(port);
    expect((await store.get('documents/1'))?.toString()).toBe('0');
    expect((await store.get('documents/1'))?.toString()).toBe('1');
    expect(connections).toHaveLength(2);
  });

  it.each(CALLS.filter(([name]) => name === 'put' || name === 'delete'))(
    'sends a %s once: it may arrive although the connection was closed',
    async (_, call) => {
      const { port, connections } = await tcpService((socket) => {
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n0`);
          socket.once('data', () => socket.resetAndDestroy());
        });
      });
      const store = storeAt(port);
      await store.get('documents/1');
      await expect(call(store)).rejects.toThrow(StorageUnavailable);
      expect(connections).toHaveLength(1);
    },
  );

  it('closes idle connections before the service does', async () => {
    const { port, connections } = await tcpService((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n0')),
    );
    await storeAt(port).get('documents/1');
    await closed(connections[0]!);
  });

  it('rejects the response of another service to a put', async () => {
    const port = await httpService((_request, response) => response.end('<html>please sign in</html>'));
    await expect(storeAt(port).put('documents/1', body)).rejects.toMatchObject({
      cause: { message: 'the response has no ETag: MINIO_ENDPOINT is not an S3 service' },
    });
  });

  it('retries at most once', async () => {
    const { port, connections } = await tcpService((socket, index) => {
      if (index > 0) return socket.resetAndDestroy();
      return socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n0');
        socket.once('data', () => socket.resetAndDestroy());
      });
    });
    const store = storeAt(port);
    await store.get('documents/1');
    await expect(store.get('documents/1')).rejects.toThrow(StorageUnavailable);
    expect(connections).toHaveLength(2);
  });

  it('does not run out of connections to a service that rejects connections for a while', async () => {
    let refusing = true;
    const port = await httpService((_request, response) => {
      response.writeHead(refusing ? 503 : 200, { 'content-length': body.length }).end(body);
    });
    const store = storeAt(port);
    const get = () => store.get('documents/1').catch(() => undefined);
    for (let i = 0; i < 100; i++) expect(await get()).toBeUndefined();
    refusing = false;
    expect(await store.get('documents/1')).toEqual(body);
  });

  it('does not run out of connections to a service that hangs for a while', async () => {
    let hanging = true;
    const port = await httpService((_request, response) => {
      if (!hanging) response.writeHead(200, { 'content-length': body.length }).end(body);
    });
    const store = storeAt(port, 500);
    const gets = Array.from({ length: 200 }, () => store.get('documents/1'));
    for (const { status } of await Promise.allSettled(gets)) expect(status).toBe('rejected');
    hanging = false;
    expect(await eventually(() => store.get('documents/1'))).toEqual(body); // the deadline is short for a busy machine
  });

  it('lists all pages', async () => {
    const keys = ['a/1', 'a/2', 'a/3', 'a/4', 'a/5'];
    const port = await httpService((request, response) => {
      const after = new URL(request.url ?? '', 'http://s3').searchParams.get('start-after') ?? '';
      const rest = keys.filter((key) => key > after);
      const contents = rest.slice(0, 2).map((key) => `<Contents><Key>${key}</Key></Contents>`);
      const truncated = `<IsTruncated>${rest.length > 2}</IsTruncated>`;
      response.end(`<ListBucketResult>${truncated}${contents.join('')}</ListBucketResult>`);
    });
    expect(await keysOf(storeAt(port), 'a/')).toEqual(keys);
  });
});

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}
