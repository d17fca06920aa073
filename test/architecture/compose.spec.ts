import { BlockList } from 'node:net';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { HTTP_LIMITS } from '../../src/http/server/http-limits.js';
import { parseSettings } from '../../src/config/parse-settings.js';
import type { Settings } from '../../src/config/settings.js';
import { checkConfiguration } from '../support/nginx.js';
import { describeWith, NGINX } from '../support/requirements.js';
import { composeFile, configOf, interpolate } from '../support/compose.js';
import { COMPOSE_SCHEMA } from '../support/compose-schema.js';

const file = composeFile();
const REPLICAS = ['mintkeep-1', 'mintkeep-2'];

/** The variables that have to be set, as the script of docs/deployment.md generates them. */
function dotEnv(): Record<string, string> {
  const script = /^cat > \.env <<END\n(.*?)^END$/ms.exec(readFileSync('docs/deployment.md', 'utf8'))![1]!;
  const lines = script.trimEnd().split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(/=(.*)/s);
      const bytes = Number(/openssl rand -\w+ (\d+)/.exec(value)?.[1]);
      const random = Buffer.alloc(bytes, 7);
      return [name, value.includes('-base64') ? random.toString('base64') : random.toString('hex')];
    }),
  );
}

function environmentOf(service: string, variables = dotEnv()): Record<string, string> {
  const entries = Object.entries(file.services[service]!.environment ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name, interpolate(String(value), variables)]));
}

function settingsOf(replica: string): Settings {
  const dataDir = mkdtempSync(join(tmpdir(), 'mintkeep-compose-'));
  try {
    return parseSettings({ NODE_ENV: 'production', DATA_DIR: dataDir, ...environmentOf(replica) });
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

it('is a compose file', () => {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
  addFormats.default(ajv);
  const validate = ajv.compile(COMPOSE_SCHEMA);
  validate(file);
  expect(validate.errors).toBeNull();
});

it('has everything that it names', () => {
  for (const [name, service] of Object.entries(file.services)) {
    const { networks = [], depends_on = {}, volumes = [], configs = [] } = service;
    const named = (list: unknown, key: (item: never) => string) => (list as never[]).map(key);
    expect([name, Object.keys(file.networks)]).toEqual([
      name,
      expect.arrayContaining(Array.isArray(networks) ? networks : Object.keys(networks)),
    ]);
    expect(Object.keys(file.services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
    expect(Object.keys(file.volumes)).toEqual(
      expect.arrayContaining(named(volumes, (volume: string) => volume.split(':')[0]!)),
    );
    expect(Object.keys(file.configs)).toEqual(
      expect.arrayContaining(named(configs, ({ source }: { source: string }) => source)),
    );
  }
});

it('names images by exact versions', () => {
  const images = Object.values(file.services).flatMap(({ build, image }) => (build ? [] : [image!]));
  expect(images.length).toBeGreaterThan(4);
  for (const image of images) expect(image).toMatch(/:(v?\d+\.\d+|RELEASE\.\d{4})/);
});

it('gives what it builds no names: of one name, each service that builds would take it from the others', () => {
  const built = Object.values(file.services).filter(({ build }) => build);
  expect(built).toHaveLength(REPLICAS.length);
  expect(built.filter(({ image }) => image)).toEqual([]);
});

it.each(REPLICAS)(
  '%s starts with the settings that the script of docs/deployment.md generates',
  (replica) => {
    const settings = settingsOf(replica);
    expect(settings).toMatchObject({
      developmentSignIn: false,
      publicUrl: 'http://localhost:8080',
      upstreamPrivateNetworks: 'deny',
      minio: { bucket: 'mintkeep' },
    });
    expect(settings.adminToken?.length).toBeGreaterThanOrEqual(32);
  },
);

it('does not start before its secrets are made', () => {
  expect(() => environmentOf('mintkeep-1', {})).toThrow('has to be set');
  expect(Object.keys(dotEnv()).sort()).toEqual(
    [...new Set(JSON.stringify(file).match(/\$\{\w+:\?\}/g))].map((name) => name.slice(2, -3)).sort(),
  );
});

it('the replicas believe the balancer, and nobody else', () => {
  const addressOf = (name: string) =>
    (file.services[name]!.networks as Record<string, { ipv4_address: string }>).front!.ipv4_address;
  for (const replica of REPLICAS) expect(environmentOf(replica).TRUST_PROXY).toBe(addressOf('nginx'));
  const subnet = new BlockList();
  const [{ subnet: cidr }] = (file.networks.front as { ipam: { config: [{ subnet: string }] } }).ipam.config;
  const [address = '', prefix] = cidr.split('/');
  subnet.addSubnet(address, Number(prefix));
  const addresses = ['nginx', ...REPLICAS, 'auth'].map(addressOf);
  expect(new Set(addresses).size).toBe(addresses.length);
  for (const each of addresses) expect(subnet.check(each)).toBe(true);
});

it('the identity provider signs what the replicas accept', () => {
  const [ours, theirs] = [environmentOf('mintkeep-1'), environmentOf('auth')];
  expect(ours.SESSION_JWT_SECRET).toBe(theirs.GOTRUE_JWT_SECRET);
  expect(ours.SESSION_JWT_AUDIENCE).toBe(theirs.GOTRUE_JWT_AUD);
  expect(ours.SESSION_JWT_ISSUER).toBe(theirs.GOTRUE_JWT_ISSUER);
});

it('the identity provider limits clients by what the balancer says of them, and they cannot', () => {
  const header = environmentOf('auth').GOTRUE_RATE_LIMIT_HEADER!;
  const [written, ...more] = configOf(file, 'nginx')
    .match(/proxy_set_header [^;]*/g)!
    .filter((line) => line.includes(` ${header} `));
  expect([written, more]).toEqual([`proxy_set_header ${header} $remote_addr`, []]);
});

it('the databases are made for those who use them', () => {
  const script = configOf(file, 'databases');
  const { DATABASE_URL } = environmentOf('mintkeep-1');
  for (const url of [DATABASE_URL!, environmentOf('auth').GOTRUE_DB_DATABASE_URL!]) {
    const { username, pathname } = new URL(url);
    expect(script).toContain(`CREATE USER ${username} `);
    expect(script).toContain(`CREATE DATABASE ${pathname.slice(1)} OWNER ${username};`);
  }
});

it.each(REPLICAS)(
  '%s is healthy while it serves known keys, and checked as often as the image says',
  (replica) => {
    const { test, ...times } = file.services[replica]!.healthcheck as { test: string[] };
    expect(test.slice(0, 3)).toEqual(['CMD', 'node', '-e']);
    expect(test[3]).toContain('/readyz?for=proxy');
    const image = /^HEALTHCHECK (.*?) \\$/m.exec(readFileSync('Dockerfile', 'utf8'))![1]!;
    const options = image.split(' ').map((option) => option.slice('--'.length).split('='));
    const ofImage = Object.fromEntries(options.map(([name, value]) => [name!.replace('-', '_'), value]));
    expect(ofImage).toEqual({ ...times, retries: String((times as { retries?: number }).retries) });
  },
);

it('the balancer waits until the replicas are healthy, and they wait for the database and the storage', () => {
  const conditions = (name: string) => file.services[name]!.depends_on;
  const healthy = { condition: 'service_healthy' };
  expect(conditions('nginx')).toEqual({ 'mintkeep-1': healthy, 'mintkeep-2': healthy });
  for (const replica of REPLICAS)
    expect(conditions(replica)).toEqual({ postgres: healthy, minio: healthy, auth: healthy });
});

it('gives running requests the time that they have', () => {
  for (const name of [...REPLICAS, 'nginx']) {
    expect(Number.parseInt(file.services[name]!.stop_grace_period!)).toBeGreaterThan(40);
  }
});

it('the balancer waits for clients and upstreams longer than the replicas do', () => {
  const { bodyTimeoutMs, clientIdleTimeoutMs } = HTTP_LIMITS;
  const { upstreamResponseTimeoutMs } = settingsOf('mintkeep-1');
  const timeoutMs = (name: string) =>
    Number(new RegExp(`^ *${name} (\\d+)s;`, 'm').exec(configOf(file, 'nginx'))![1]) * 1_000;
  expect(timeoutMs('client_body_timeout')).toBeGreaterThan(bodyTimeoutMs);
  expect(timeoutMs('proxy_send_timeout')).toBeGreaterThan(bodyTimeoutMs);
  expect(timeoutMs('send_timeout')).toBeGreaterThan(clientIdleTimeoutMs);
  expect(timeoutMs('proxy_read_timeout')).toBeGreaterThan(upstreamResponseTimeoutMs);
});

it.each(REPLICAS)('%s can write to its own volume and nothing else', (replica) => {
  expect(file.services[replica]).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    volumes: [`${replica}:/data`],
  });
});

it('copies nothing into a service that is read-only, which Compose rejects', () => {
  for (const [name, { read_only, configs }] of Object.entries(file.services)) {
    expect([name, read_only === true && configs !== undefined]).toEqual([name, false]);
  }
});

describeWith(NGINX, 'load balancer', () => {
  it('accepts its configuration', () => checkConfiguration());
});
