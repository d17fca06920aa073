import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { startApp } from '../support/app.js';
import { CliUser, stripColours, userCodeOf } from '../support/cli.js';
import { decide } from '../support/device-flow.js';
import { startTlsUpstream, startUpstream, TLS_CERTIFICATE } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { eventually } from '../support/eventually.js';
import { startTcpProxy } from '../support/tcp-proxy.js';

let user: CliUser;

beforeEach(async () => {
  user = await CliUser.create();
});

describe('HTTPS_PROXY, NO_PROXY and NODE_EXTRA_CA_CERTS', () => {
  const HOST = 'upstream.example'; // the name in the certificate, which no name server knows
  let server: FakeUpstream;
  let proxy: { url: string; targets: string[]; close(): Promise<void> };
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    server = await startTlsUpstream((_, response) =>
      response.setHeader('Content-Type', 'application/json').end('{"object":"list","data":[{"id":"small"}]}'),
    );
    proxy = await startConnectProxy(server.port);
    const certificate = join(user.home, 'certificate.pem');
    await writeFile(certificate, TLS_CERTIFICATE);
    env = {
      ...{ MINTKEEP_URL: `https://${HOST}`, MINTKEEP_API_KEY: 'the-key' },
      ...{ HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificate },
    };
  });
  afterEach(async () => {
    await proxy.close();
    await server.close();
  });

  it('are honoured', async () => {
    expect(await user.run(['models'], { env })).toEqual({ code: 0, stdout: 'small\n', stderr: '' });
    expect(proxy.targets).toEqual([`${HOST}:443`]);
    expect(server.requests[0]!.headers.authorization).toBe('Bearer the-key');
  });

  it('NO_PROXY excludes a host', async () => {
    const { code, stderr } = await user.run(['models'], { env: { ...env, NO_PROXY: HOST } });
    expect([code, proxy.targets]).toEqual([1, []]);
    expect(stderr).toMatch(/^mintkeep: cannot reach https:\/\/upstream.example: the host name/);
  });

  it('a certificate that is not trusted is rejected', async () => {
    const { code, stderr } = await user.run(['models'], { env: { ...env, NODE_EXTRA_CA_CERTS: undefined } });
    expect([code, server.requests]).toEqual([1, []]);
    expect(stderr).toMatch(
      /certificate is not trusted \(\w+\); if .* set NODE_EXTRA_CA_CERTS to its file\n$/,
    );
  });

  it('login uses them, too', async () => {
    const { MINTKEEP_URL: url, MINTKEEP_API_KEY: _, ...others } = env;
    const { code } = await user.run(['login', url!], { env: others });
    expect([code, server.requests.map((request) => request.url)]).toEqual([
      1,
      ['/.well-known/oauth-authorization-server', '/oauth/device_authorization'],
    ]);
  });

  it('plain http to this machine does not go through a proxy', async () => {
    const local = await startUpstream();
    const { code } = await user.run(['models'], {
      env: { ...env, HTTP_PROXY: proxy.url, MINTKEEP_URL: local.url },
    });
    expect([code, proxy.targets, local.requests.length]).toEqual([0, [], 1]);
    await local.close();
  });
});

/** Proxy that connects every target to one port of this machine. */
async function startConnectProxy(port: number) {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer().on('connect', ({ url }, client: Socket) => {
    targets.push(url!);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return {
    targets,
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

it('a login survives an outage of the connection while it waits', async () => {
  const app = await startApp();
  const proxy = await startTcpProxy(app.url);
  try {
    const login = user.startInTerminal(['login', proxy.url, '--no-browser']);
    const code = await userCodeOf(login);
    proxy.goAway();
    const notice = /cannot reach .*: the connection was closed; trying again/;
    await eventually(() => expect(stripColours(login.stdout())).toMatch(notice));
    await decide(await app.as('ada'), code, 'approve').expect(200);
    proxy.comeBack(app.url);
    expect((await login.result).code).toBe(0);
  } finally {
    await proxy.stop();
    await app.close();
  }
});

it.each([['status'], ['login']])('"%s" gives up on a server that never responds', async (command) => {
  const silent = await startUpstream(() => undefined);
  const access = { MINTKEEP_URL: silent.url, MINTKEEP_API_KEY: 'x' };
  const isLogin = command === 'login';
  const { code, stdout, stderr } = await user.run(isLogin ? [command, silent.url] : [command], {
    env: isLogin ? {} : access,
  });
  expect(code).toBe(1);
  expect(stdout).toBe(
    isLogin ? '' : `Server     ${silent.url}\nKey        …\nStored in  environment\nWorks      no\n`,
  );
  expect(stderr).toMatch(/^mintkeep: cannot reach http:\S+: no response in time; check the address/);
  await silent.close();
});

it('does not follow a redirect, which would send the key elsewhere', async () => {
  const elsewhere = await startUpstream();
  const server = await startUpstream((_, response) =>
    response.writeHead(307, { Location: `${elsewhere.url}/x` }).end(),
  );
  const env = { MINTKEEP_URL: server.url, MINTKEEP_API_KEY: 'the-key' };
  for (const command of [['status'], ['logout'], ['models'], ['chat', '-m', 'x', 'Hi']]) {
    const { code, stderr } = await user.run(command, { env });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/ redirects to http:\/\/127.*; log in with the address/),
    ]);
  }
  expect(elsewhere.requests).toEqual([]);
  await Promise.all([server.close(), elsewhere.close()]);
});
