import type { RequestListener } from 'node:http';
import type { Settings } from '../config/settings.js';
import { startTlsUpstream, startUpstream } from '../../test/support/fake-upstream.js';
import type { FakeUpstream } from '../../test/support/fake-upstream.js';
import { AddressGuard } from './network/address-guard.js';
import { HostResolver } from './name-resolution/host-resolver.js';
import { UpstreamProbe } from './upstream-probe.js';

const API_KEY = 'sk-secret-of-the-test';

let upstream: FakeUpstream | undefined;

afterEach(async () => {
  await upstream?.close();
  upstream = undefined;
});

function probe(
  baseUrl: string,
  { provider = 'custom', privateNetworks = 'allow', timeoutMs = 60_000 } = {},
): ReturnType<UpstreamProbe['probe']> {
  const guard = new AddressGuard(
    { upstreamPrivateNetworks: privateNetworks } as Settings,
    new HostResolver(),
  );
  return new UpstreamProbe(guard).probe(
    { baseUrl, provider: provider as 'custom', organizationId: 1 },
    API_KEY,
    timeoutMs,
  );
}

async function probeServer(answer?: RequestListener, path = '', options: Parameters<typeof probe>[1] = {}) {
  upstream = await startUpstream(answer);
  return probe(upstream.url + path, options);
}

it.each([
  ['', '/v1/models'],
  ['/v1', '/v1/models'],
  ['/api/v1', '/api/v1/models'],
  ['/v1beta/openai', '/v1beta/openai/models'],
  ['/gateway', '/gateway/v1/models'],
])('requests the model list of the base path %j at %s', async (path, expected) => {
  const result = await probeServer(undefined, path);
  expect(result).toEqual({
    ok: true,
    status: 200,
    latency_ms: expect.any(Number),
    message: 'the upstream works',
  });
  expect(Number.isInteger(result.latency_ms) && result.latency_ms >= 0).toBe(true);
  expect(upstream!.requests).toMatchObject([{ method: 'GET', url: expected }]);
});

it('sends the API key as a bearer token', async () => {
  await probeServer();
  const { headers } = upstream!.requests[0]!;
  expect(headers.authorization).toBe(`Bearer ${API_KEY}`);
  expect(headers).not.toHaveProperty('x-api-key');
  expect(headers).not.toHaveProperty('anthropic-version');
});

it('sends the API key to Anthropic as x-api-key, with the version', async () => {
  await probeServer(undefined, '', { provider: 'anthropic' });
  const { headers } = upstream!.requests[0]!;
  expect(headers).toMatchObject({ 'x-api-key': API_KEY, 'anthropic-version': '2023-06-01' });
  expect(headers).not.toHaveProperty('authorization');
});

it.each([
  [204, true],
  [301, false],
  [400, false],
  [401, false],
  [403, false],
  [404, false],
  [418, false],
  [429, false],
  [500, false],
  [503, false],
])('a response with status %d has ok %s and a fixed message', async (status, ok) => {
  const echo: RequestListener = ({ headers }, response) => {
    response.writeHead(status, `echo ${headers.authorization}`, {
      Location: '/elsewhere',
      'X-Echo': API_KEY,
    });
    response.end(status === 204 ? undefined : JSON.stringify({ error: { message: `not ${API_KEY}` } }));
  };
  const result = await probeServer(echo);
  expect(result).toMatchObject({ ok, status });
  expect(result.message).toMatch(/^the upstream [a-zA-Z ,:_]+$/);
  expect(upstream!.requests).toHaveLength(1); // redirects are not followed
});

it('does not wait for the end of an endless response', async () => {
  const endless: RequestListener = (_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', write);
    };
    response.writeHead(200);
    write();
  };
  expect(await probeServer(endless)).toMatchObject({ ok: true, status: 200 });
});

describe('a probe without a response', () => {
  const none = { ok: false, status: null, latency_ms: expect.any(Number) };

  it('reports a server that does not respond', async () => {
    const result = await probeServer(() => undefined, '', { timeoutMs: 50 });
    expect(result).toEqual({ ...none, message: 'the upstream does not respond in time' });
  });

  it('reports a closed connection', async () => {
    const result = await probeServer(({ socket }) => socket.destroy());
    expect(result).toEqual({ ...none, message: 'the upstream closes the connection' });
  });

  it('reports a server that does not speak HTTP', async () => {
    const result = await probeServer(({ socket }) => socket.end(`${API_KEY} is not HTTP\r\n\r\n`));
    expect(result).toEqual({ ...none, message: 'the upstream cannot be reached' });
  });

  it('reports a port without a listener', async () => {
    const { url, close } = await startUpstream();
    await close();
    expect(await probe(url)).toEqual({ ...none, message: 'the upstream refuses the connection' });
  });

  it('reports a name that does not resolve', async () => {
    const result = await probe('https://nowhere.invalid/v1');
    expect(result).toEqual({ ...none, message: 'the host name does not resolve' });
  });

  it('reports an untrusted certificate', async () => {
    upstream = await startTlsUpstream();
    const result = await probe(upstream.url);
    expect(result).toEqual({ ...none, message: 'the certificate of the upstream is not trusted' });
    expect(upstream.requests).toEqual([]);
  });

  it('reports a server without TLS', async () => {
    upstream = await startUpstream();
    const result = await probe(upstream.url.replace('http:', 'https:'));
    expect(result).toEqual({ ...none, message: 'the upstream does not speak TLS' });
  });

  it.each(['deny', 'allow'])('reports an address that is not allowed (%s)', async (privateNetworks) => {
    const host = privateNetworks === 'deny' ? '127.0.0.1' : '169.254.169.254';
    const result = await probe(`http://${host}:1`, { privateNetworks });
    expect(result).toMatchObject(none);
    expect(result.message).toMatch(/^the host (is in a private network|has an address)/);
  });
});
