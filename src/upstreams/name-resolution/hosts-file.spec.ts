import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostsFile } from './hosts-file.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mintkeep-hosts-'));
  path = join(folder, 'hosts');
});
afterEach(() => rmSync(folder, { recursive: true }));

const addressesIn = (hosts: HostsFile, hostname: string) =>
  hosts.find(hostname).map(({ address, family }) => `${address} ${family}`);

it('finds the names of the file in any case, with all addresses', () => {
  writeFileSync(
    path,
    `# 10.0.0.1 commented
127.0.0.1\tlocalhost  loop # local
::1 localhost
  10.0.0.2 Host.Docker.Internal\r
fe80::1%lo0 localhost
nonsense name
10.0.0.3
`,
  );
  const hosts = new HostsFile(path);
  expect(addressesIn(hosts, 'localhost')).toEqual(['127.0.0.1 4', '::1 6']);
  expect(addressesIn(hosts, 'loop')).toEqual(['127.0.0.1 4']);
  expect(addressesIn(hosts, 'host.docker.internal')).toEqual(['10.0.0.2 4']);
  expect(addressesIn(hosts, 'HOST.docker.internal.')).toEqual(['10.0.0.2 4']);
  for (const name of ['commented', 'name', '#', 'local', '']) expect(addressesIn(hosts, name)).toEqual([]);
});

it('notices changes of the file', () => {
  const hosts = new HostsFile(path);
  expect(addressesIn(hosts, 'a')).toEqual([]);
  writeFileSync(path, '10.0.0.1 a\n');
  expect(addressesIn(hosts, 'a')).toEqual(['10.0.0.1 4']);
  writeFileSync(path, '10.0.0.20 a\n');
  expect(addressesIn(hosts, 'a')).toEqual(['10.0.0.20 4']);
  rmSync(path);
  expect(addressesIn(hosts, 'a')).toEqual([]);
});
