import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNameServer } from '../../../test/support/name-server.js';
import type { FakeNameServer, Family, NameResponse } from '../../../test/support/name-server.js';
import { undisturbed } from '../../../test/support/standstill.js';
import { NameServers } from './name-servers.js';

const NO_SUCH_NAME = 3;
const SERVER_FAILURE = 2;

let server: FakeNameServer;
let respond: (name: string, family: Family) => NameResponse;
let folder: string;
let signal: AbortSignal;

beforeEach(async () => {
  signal = new AbortController().signal;
  respond = () => NO_SUCH_NAME;
  server = await startNameServer((name, family) => respond(name, family));
  folder = mkdtempSync(join(tmpdir(), 'mintkeep-names-'));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function serversWith(config = '', servers = [server.address]): NameServers {
  const path = join(folder, 'resolv.conf');
  writeFileSync(path, config);
  return new NameServers(servers, path);
}

it('returns the addresses of both families, IPv4 first', async () => {
  respond = (_, family) => (family === 4 ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8:0:0:0:0:0:1']);
  expect(await serversWith().resolve('api.example', signal)).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
});

it.each<[string, (family: Family) => NameResponse]>([
  ['has none of IPv6', (family) => (family === 4 ? ['192.0.2.1'] : [])],
  ['says nothing of IPv6', (family) => (family === 4 ? ['192.0.2.1'] : undefined)],
  ['fails for IPv6', (family) => (family === 4 ? ['192.0.2.1'] : SERVER_FAILURE)],
])('returns the addresses of a name whose server %s', async (_what, of) => {
  respond = (_name, family) => of(family);
  expect(await serversWith().resolve('api.example', signal)).toEqual([{ address: '192.0.2.1', family: 4 }]);
});

it.each<[string, NameResponse]>([
  ['does not exist', NO_SUCH_NAME],
  ['has no address', []],
])('does not find a name that %s', async (_what, response) => {
  respond = () => response;
  await expect(serversWith().resolve('api.example', signal)).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

it('distinguishes a failing server from a silent one', async () => {
  respond = () => SERVER_FAILURE;
  const failed = { code: 'EAI_AGAIN', isTimeout: false };
  await expect(serversWith().resolve('api.example', signal)).rejects.toMatchObject(failed);
  respond = () => undefined;
  const silent = { code: 'EAI_AGAIN', isTimeout: true };
  await expect(serversWith().resolve('api.example', signal)).rejects.toMatchObject(silent);
});

it('queries the second server if the first one is silent', async () => {
  const silent = await startNameServer(() => undefined);
  try {
    respond = (_, family) => (family === 4 ? ['192.0.2.1'] : []);
    const servers = serversWith('', [silent.address, server.address]);
    expect(await servers.resolve('api.example', signal)).toEqual([{ address: '192.0.2.1', family: 4 }]);
    expect(silent.queries.length).toBeGreaterThan(0);
  } finally {
    await silent.close();
  }
});

it('can be cancelled', async () => {
  const aborting = new AbortController();
  respond = () => {
    aborting.abort();
    return undefined;
  };
  const cancelled = { code: 'EAI_AGAIN', isTimeout: true };
  await expect(serversWith().resolve('api.example', aborting.signal)).rejects.toMatchObject(cancelled);
  await expect(serversWith().resolve('api.example', aborting.signal)).rejects.toMatchObject(cancelled);
});

describe('the search list', () => {
  const CONFIG = 'search one.example two.example\noptions ndots:2\n';

  it('is searched in order up to the first match', async () => {
    respond = (name, family) => (name === 'api.two.example' && family === 4 ? ['192.0.2.1'] : NO_SUCH_NAME);
    await undisturbed(async () => {
      server.queries.length = 0;
      expect(await serversWith(CONFIG).resolve('api', signal)).toEqual([{ address: '192.0.2.1', family: 4 }]);
      expect(server.queries.map((name) => name.split(' ')[0])).toEqual([
        ...['api.one.example', 'api.one.example', 'api.two.example', 'api.two.example'],
      ]);
    });
  });

  it('does not fall back to a public name while a search domain is silent', async () => {
    respond = (name) => (name === 'api.dev' ? ['192.0.2.66'] : SERVER_FAILURE);
    await expect(serversWith(CONFIG).resolve('api.dev', signal)).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    expect(server.queries.filter((name) => name.startsWith('api.dev '))).toEqual([]);
  });
});

it('uses the name servers of the system, with and without a file', async () => {
  const servers = new NameServers(undefined, join(folder, 'missing'));
  await expect(servers.resolve('nowhere.invalid', AbortSignal.abort())).rejects.toMatchObject({
    code: 'EAI_AGAIN',
  });
});
