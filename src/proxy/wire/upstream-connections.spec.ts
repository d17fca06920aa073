import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { inParallel } from '../../../test/support/parallel.js';
import { respondRaw, respondWith, startRawUpstream } from '../../../test/support/raw-upstream.js';
import type { RawUpstream } from '../../../test/support/raw-upstream.js';
import type { Settings } from '../../config/settings.js';
import { AddressGuard } from '../../upstreams/network/address-guard.js';
import { HostResolver } from '../../upstreams/name-resolution/host-resolver.js';
import type { ResponseListener, WireRequest } from './upstream-connection.js';
import { UpstreamConnections } from './upstream-connections.js';

const REQUEST: WireRequest = {
  ...{ method: 'GET', headers: 'GET / HTTP/1.1\r\nhost: x\r\n\r\n', body: Buffer.alloc(0) },
};

let upstream: RawUpstream;
let connections: UpstreamConnections;

beforeEach(async () => {
  upstream = await startRawUpstream(respondWith('{}'));
  connections = newConnections();
});
afterEach(async () => {
  connections.onApplicationShutdown();
  await upstream.close();
});

function newConnections(): UpstreamConnections {
  const settings = { upstreamPrivateNetworks: 'allow', upstreamConnectTimeoutMs: 60_000 } as Settings;
  return new UpstreamConnections(new AddressGuard(settings, new HostResolver()), settings);
}

const at = (origin: string) => ({ origin, organizationId: 1 });
const nothing = () => undefined;
const listening = (to: Partial<ResponseListener>): ResponseListener => ({
  ...{ onResponseHeaders: nothing, onData: nothing, onReadEnd: nothing, onEnd: nothing, onError: nothing },
  ...to,
});

/** Sends a request and waits for the end of its response. */
function ask(url = upstream.url, request = REQUEST): Promise<readonly unknown[]> {
  return new Promise((resolve) => {
    const listener = listening({
      onEnd: () => setImmediate(resolve, ['end']),
      onError: (kind, stale) => resolve([kind, stale]),
    });
    connections.send(at(url), request, listener);
  });
}

describe('a request that is cancelled while its connection is opened', () => {
  it('is never sent, and the next request uses the connection', async () => {
    connections.send(at(upstream.url), REQUEST, listening({})).cancel();
    await eventually(() => expect(upstream.connectionCount).toBe(1));
    await turn();
    await ask();
    expect([upstream.connectionCount, upstream.requests.length]).toEqual([1, 1]);
  });

  it('gets no error if the connection fails', async () => {
    const failed = jest.fn();
    connections.send(at('http://127.0.0.1:1'), REQUEST, listening({ onError: failed })).cancel();
    expect(await ask('http://127.0.0.1:1')).toEqual(['connect', false]);
    expect(failed).not.toHaveBeenCalled();
  });
});

describe('a connection', () => {
  it.each([
    ['says that it ends', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
    ['says so among others', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close\r\n\r\n'],
    ['is of an old server', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    [
      'was told two ends',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('is closed and not used again if it %s', async (_what, answer) => {
    upstream.respond = respondRaw(answer);
    expect([await ask(), await ask()]).toEqual([['end'], ['end']]);
    expect(upstream.connectionCount).toBe(2);
    await eventually(() => expect(upstream.sockets.size).toBe(0));
  });

  it('is not reused when its response ends before the request is written', async () => {
    const sockets: Socket[] = [];
    const hasty = createServer({ pauseOnConnect: true }, (socket) => {
      sockets.push(socket);
      socket.on('error', nothing).write('HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n');
    });
    await once(hasty.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(hasty.address() as AddressInfo).port}`;
    const large = { ...REQUEST, method: 'POST', body: Buffer.alloc(30_000_000) };
    expect([await ask(url, large), await ask(url)]).toEqual([['end'], ['end']]);
    expect(sockets).toHaveLength(2);
    for (const socket of sockets) socket.destroy();
    hasty.close();
  });

  it('is stale when it is reset between two responses, even if the first packet had two', async () => {
    upstream.respond = respondRaw(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    );
    await ask();
    upstream.respond = ({ socket }) => socket.resetAndDestroy();
    expect([await ask(), await ask()]).toEqual([
      ['reset', true],
      ['reset', false],
    ]);
  });
});

describe('idle connections', () => {
  beforeEach(() => {
    connections.onApplicationShutdown();
    jest.useFakeTimers({
      doNotFake: [
        'setImmediate',
        'clearImmediate',
        'setTimeout',
        'clearTimeout',
        'nextTick',
        'queueMicrotask',
      ],
    });
    connections = newConnections();
  });
  afterEach(() => void jest.useRealTimers());

  const pass = (milliseconds: number) => jest.advanceTimersByTime(milliseconds);

  it('are closed after 15 s, surplus connections first', async () => {
    await inParallel(2, () => ask());
    for (const milliseconds of [10_000, 4_000]) {
      pass(milliseconds);
      await ask();
    }
    expect([upstream.connectionCount, upstream.sockets.size]).toEqual([2, 2]);
    pass(1_000);
    await eventually(() => expect(upstream.sockets.size).toBe(1));
    await ask();
    expect(upstream.connectionCount).toBe(2);
    pass(15_000);
    await eventually(() => expect(upstream.sockets.size).toBe(0));
  });

  it('are limited to 256 per upstream', async () => {
    await inParallel(270, () => ask());
    expect(upstream.connectionCount).toBe(270);
    await eventually(() => expect(upstream.sockets.size).toBe(256));
  });

  it('are closed at shutdown', async () => {
    await inParallel(3, () => ask());
    connections.onApplicationShutdown();
    await eventually(() => expect(upstream.sockets.size).toBe(0));
    expect(jest.getTimerCount()).toBe(0);
  });
});
