import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RateNotHeld, runOpenLoop } from './open-loop.js';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');

describe('runOpenLoop', () => {
  let server: Server;

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  async function listen(handler: RequestListener): Promise<number> {
    server = createServer(handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('returns one timed response per request', async () => {
    const port = await listen((_, response) => response.end('body'));
    const responses = await runOpenLoop({ targets: [{ port, request: REQUEST }], perSecond: 10, seconds: 1 });
    expect(responses).toHaveLength(10);
    for (const { firstByteMs, doneMs } of responses) expect(doneMs).toBeGreaterThanOrEqual(firstByteMs);
  });

  it('lets the targets take turns', async () => {
    const paths: string[] = [];
    const port = await listen(({ url }, response) => {
      paths.push(url!);
      response.end();
    });
    const targets = ['/a', '/b', '/c'].map((path) => ({
      port,
      request: Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`),
    }));
    await runOpenLoop({ targets, perSecond: 12, seconds: 0.5 });
    expect(paths.toSorted()).toEqual(['/a', '/a', '/b', '/b', '/c', '/c']);
  });

  it('reports a server that never responds, without waiting for the timeout of its requests', async () => {
    let requests = 0;
    const port = await listen(() => requests++);
    const load = { targets: [{ port, request: REQUEST }], perSecond: 20, seconds: 600 };
    await expect(runOpenLoop(load)).rejects.toThrow('20 requests/s not held: 101 requests are waiting');
    expect(requests).toBeLessThanOrEqual(101);
  });

  it('reports a server that responds later than the rate allows', async () => {
    const port = await listen((_, response) => void setTimeout(() => response.end(), 1_000));
    const load = { targets: [{ port, request: REQUEST }], perSecond: 20, seconds: 0.5 };
    await expect(runOpenLoop(load)).rejects.toThrow(/^20 requests\/s not held: only \d+ per second/);
  });

  it.each<[string, RequestListener, string]>([
    ['an error status', (_, response) => response.writeHead(503).end(), 'status 503'],
    ['a broken connection', (request) => request.socket.destroy(), 'not held'],
  ])('reports %s', async (_, handler, message) => {
    const port = await listen(handler);
    const load = { targets: [{ port, request: REQUEST }], perSecond: 10, seconds: 600 };
    const failure = runOpenLoop(load);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toBeInstanceOf(RateNotHeld);
  });
});
