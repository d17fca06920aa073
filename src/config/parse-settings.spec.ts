import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DECLARATIONS } from './declarations/declarations.js';
import { parseSettings } from './parse-settings.js';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'mintkeep-settings-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const KEY = Buffer.alloc(32, 7).toString('base64');
const SECRET = 'a secret of at least thirty-two bytes';
const parse = (variables: NodeJS.ProcessEnv = {}) => parseSettings({ DATA_DIR: dataDir, ...variables });

function problems(variables: NodeJS.ProcessEnv): string[] {
  try {
    parse(variables);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.split(' ')[0]!);
  }
}

it('needs nothing on a developer’s machine', () => {
  expect(parse()).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    publicUrl: 'http://localhost:3000',
    dashboardUrl: 'http://localhost:3000',
    dashboard: { signIn: { kind: 'development' } },
    signInUrl: 'http://localhost:3000/sign-in',
    dataDir,
    databaseUrl: undefined,
    databasePoolSize: 20,
    minio: undefined,
    smtp: undefined,
    production: false,
    developmentSignIn: true,
    session: { cookieName: 'mintkeep_session', requireEmailVerified: false },
    adminToken: undefined,
    trustProxy: [],
    corsOrigins: [],
    logLevel: 'info',
    shutdownDelayMs: 0,
    upstreamPrivateNetworks: 'allow',
    deviceCodesPerMinute: 60,
    keyGraceSeconds: 60,
    usageRetentionMonths: undefined,
    httpFastPath: true,
    headerLimitBytes: 16_384,
    proxyBodyLimitBytes: 33_554_432,
    proxyBodyMemoryBytes: expect.any(Number) as number,
    proxyStreamsPerKey: 200,
    proxyRequestsPerMinute: 0,
    proxyRequestsInFlight: 500,
    upstreamConnectTimeoutMs: 5_000,
    upstreamFirstByteTimeoutMs: 120_000,
    upstreamResponseTimeoutMs: 600_000,
    upstreamIdleTimeoutMs: 120_000,
  });
});

it.each([
  ['true', true],
  ['false', false],
  ['', false],
])('takes %j for SESSION_REQUIRE_EMAIL_VERIFIED', (text, requireEmailVerified) => {
  expect(parse({ SESSION_REQUIRE_EMAIL_VERIFIED: text }).session).toMatchObject({ requireEmailVerified });
});

it('takes what is set', () => {
  const settings = parse({
    PORT: '8080',
    HOST: '0.0.0.0',
    PUBLIC_URL: 'https://keep.example.com/',
    DASHBOARD_URL: 'https://app.example.com/mint/',
    SIGN_IN_URL: 'https://id.example.com/login?client=mintkeep',
    DATABASE_URL: 'postgres://user:pass@db/mintkeep',
    USAGE_DATABASE_URL: 'postgres://reader:pass@standby/mintkeep',
    DATABASE_POOL_SIZE: '5',
    MINIO_ENDPOINT: 'http://minio:9000',
    MINIO_ACCESS_KEY: 'access',
    MINIO_SECRET_KEY: 'secret',
    SESSION_JWT_SECRET: SECRET,
    SESSION_JWT_ISSUER: 'https://id.example.com',
    ENCRYPTION_KEYS: `${KEY}, ${Buffer.alloc(32, 8).toString('base64')}`,
    SMTP_URL: 'smtps://user:pass@mail.example.com',
    MAIL_FROM: 'mintkeep <no-reply@example.com>',
    TRUST_PROXY: '10.0.0.0/8, ::1',
    CORS_ORIGINS: 'https://app.example.com,http://localhost:5173',
    KEY_GRACE_SECONDS: '0',
    USAGE_RETENTION_MONTHS: '13',
  });
  expect(settings).toMatchObject({
    port: 8080,
    host: '0.0.0.0',
    publicUrl: 'https://keep.example.com',
    dashboardUrl: 'https://app.example.com/mint',
    dashboard: { signIn: { kind: 'redirect', url: 'https://id.example.com/login?client=mintkeep' } },
    signInUrl: 'https://id.example.com/login?client=mintkeep',
    usageDatabaseUrl: 'postgres://reader:pass@standby/mintkeep',
    databasePoolSize: 5,
    minio: { accessKey: 'access', secretKey: 'secret', bucket: 'mintkeep', region: 'us-east-1' },
    developmentSignIn: false,
    smtp: { from: 'mintkeep <no-reply@example.com>' },
    trustProxy: ['10.0.0.0/8', '::1'],
    corsOrigins: ['https://app.example.com', 'http://localhost:5173'],
    upstreamPrivateNetworks: 'deny',
    keyGraceSeconds: 0,
    usageRetentionMonths: 13,
  });
  expect(settings.encryptionKeys).toHaveLength(2);
});

const SUPABASE_AUTH_URL = 'https://auth.example.com/auth/v1/';
const OWN_PAGE = 'http://localhost:3000/sign-in';
it.each([
  [{}, 'development', OWN_PAGE],
  [{ DASHBOARD: 'off' }, undefined, 'http://localhost:3000/dev/sign-in'],
  [{ SESSION_JWT_SECRET: SECRET }, 'none', undefined],
  [{ SESSION_JWT_SECRET: SECRET, DASHBOARD: 'off' }, undefined, undefined],
  [{ SUPABASE_AUTH_URL }, 'supabase', OWN_PAGE],
  [{ SUPABASE_AUTH_URL, SIGN_IN_URL: 'https://id.example.com/' }, 'redirect', 'https://id.example.com/'],
  [{ SIGN_IN_URL: OWN_PAGE }, 'development', OWN_PAGE],
  [{ SIGN_IN_URL: 'http://localhost:3000/dev/sign-in' }, 'development', 'http://localhost:3000/dev/sign-in'],
])(
  'the variables %j let the dashboard sign in by %s, and lead browsers to %s',
  (variables, kind, signInUrl) => {
    const settings = parse(variables);
    expect(settings.dashboard?.signIn.kind).toBe(kind);
    expect(settings.signInUrl).toBe(signInUrl);
  },
);

it.each([
  ['DASHBOARD', ['yes', 'true']],
  ['SUPABASE_AUTH_URL', ['x', 'https://user@x', 'https://x/?q']],
  ['SUPABASE_ANON_KEY', ['key']],
  ['PORT', ['x', '-1', '65536', '1.5', '0x10']],
  ['HOST', ['0.0.0.0', '10.0.0.1']],
  ['PUBLIC_URL', ['keep.example.com', 'ftp://x', 'https://x/?q', 'https://x/#f', 'https://user:password@x']],
  ['DASHBOARD_URL', ['x', 'https://user@x']],
  ['SIGN_IN_URL', ['javascript:alert(1)', '/login', 'https://:password@x']],
  ['ADMIN_TOKEN', ['two words', 'a\tb']],
  ['DATABASE_URL', ['mysql://x', 'x', 'postgres://u:p%zz@db/x']],
  ['USAGE_DATABASE_URL', ['mysql://x', 'x', 'postgres://one,two/x', 'postgres://u:p%zz@db/x']],
  ['DATABASE_POOL_SIZE', ['4', '501', 'x']],
  ['MINIO_ENDPOINT', ['minio:9000', 'http://minio/path', 'http://user@minio', 'http://minio?x']],
  ['MINIO_ACCESS_KEY', ['without an endpoint']],
  ['SESSION_JWKS_URL', ['x', 'file:///etc/passwd', 'https://user:password@id/jwks', 'https://user@id/jwks']],
  ['SESSION_COOKIE_NAME', ['a b', 'a;b', 'a=b']],
  ['SESSION_REQUIRE_EMAIL_VERIFIED', ['yes', '1', 'TRUE']],
  ['ENCRYPTION_KEYS', ['x', Buffer.alloc(16).toString('base64'), `${KEY},x`, KEY.slice(0, -1)]],
  ['MAIL_FROM', ['without@smtp.example']],
  ['SMTP_URL', ['http://mail', 'smtp://']],
  ['TRUST_PROXY', ['loopback', '10.0.0.0/33', '10.0.0.1/x', '1.2.3', '0.0.0.0/0', '::/0']],
  ['CORS_ORIGINS', ['*', 'https://app.example.com/', 'app.example.com']],
  ['LOG_LEVEL', ['loud']],
  ['UPSTREAM_PRIVATE_NETWORKS', ['yes']],
  ['DEVICE_CODES_PER_MINUTE', ['0', 'x']],
  ['KEY_GRACE_SECONDS', ['-1']],
  ['USAGE_RETENTION_MONTHS', ['0', '-1', 'x']],
  ['HEADER_LIMIT', ['1023', '16k']],
  ['PROXY_BODY_LIMIT', ['0', '1MB']],
  ['PROXY_BODY_MEMORY', ['0', '1GB']],
  ['PROXY_STREAMS_PER_KEY', ['-1', 'x']],
  ['PROXY_REQUESTS_PER_MINUTE', ['-1', '1.5']],
  ['PROXY_REQUESTS_IN_FLIGHT', ['-1', '1000001', 'x']],
  ['UPSTREAM_CONNECT_TIMEOUT_MS', ['0']],
  ['UPSTREAM_FIRST_BYTE_TIMEOUT_MS', ['x']],
  ['UPSTREAM_RESPONSE_TIMEOUT_MS', ['1s']],
  ['UPSTREAM_IDLE_TIMEOUT_MS', ['-5']],
])('names %s when it is wrong', (name, values) => {
  for (const value of values)
    expect([value, problems({ [name]: value })]).toEqual([value, expect.arrayContaining([name])]);
});

/** Integers with their bounds, as the API contract has them. */
const BOUNDS: Partial<Record<keyof typeof DECLARATIONS, [min: number, max: number]>> = {
  PORT: [0, 65_535],
  DATABASE_POOL_SIZE: [5, 500],
  SHUTDOWN_DELAY_MS: [0, 300_000],
  USAGE_RETENTION_MONTHS: [1, 1_200],
  DEVICE_CODES_PER_MINUTE: [1, 1_000_000],
  KEY_GRACE_SECONDS: [0, 86_400],
  HEADER_LIMIT: [1_024, 1_048_576],
  PROXY_BODY_LIMIT: [1, 1_073_741_824],
  PROXY_BODY_MEMORY: [1, Number.MAX_SAFE_INTEGER],
  PROXY_STREAMS_PER_KEY: [0, 1_000_000],
  PROXY_REQUESTS_PER_MINUTE: [0, 1_000_000_000],
  PROXY_REQUESTS_IN_FLIGHT: [0, 1_000_000],
  UPSTREAM_CONNECT_TIMEOUT_MS: [1, 3_600_000],
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: [1, 3_600_000],
  UPSTREAM_RESPONSE_TIMEOUT_MS: [1, 3_600_000],
  UPSTREAM_IDLE_TIMEOUT_MS: [1, 3_600_000],
};

it.each(Object.entries(BOUNDS))('accepts %s within its bounds only', (name, [min, max]) => {
  for (const value of [min, max]) expect([value, problems({ [name]: String(value) })]).toEqual([value, []]);
  for (const value of [BigInt(min) - 1n, BigInt(max) + 1n]) {
    expect([value, problems({ [name]: String(value) })]).toEqual([value, [name]]);
  }
});

it('has the bounds of every integer under test', () => {
  const integers = Object.entries(DECLARATIONS).filter(([, { kind }]) => kind === 'integer');
  expect(Object.keys(BOUNDS).sort()).toEqual(integers.map(([name]) => name).sort());
});

it('has one line for a setting that is wrong in two ways', () => {
  expect(() => parse({ PUBLIC_URL: 'https://user@x/?q' })).toThrow(
    /^PUBLIC_URL must not contain a user or password$/,
  );
});

it.each([
  [
    'no host',
    'postgresql://mk@/mk?host=/run/postgresql',
    /^DATABASE_URL must name a host; a Unix socket is [^\n]+$/,
  ],
  ['several hosts', 'postgres://u:p@one:5432,two:5432/mk', /^DATABASE_URL must name one host$/],
  ['several hosts in its query', 'postgres://u@one/mk?host=one,two', /^DATABASE_URL must name one host/],
])('says what is meant where a database has %s', (_, DATABASE_URL, message) => {
  expect(() => parse({ DATABASE_URL, ENCRYPTION_KEYS: KEY })).toThrow(message);
});

it.each([
  'postgres://mk@localhost/mk?host=/run/postgresql',
  'postgres:///mk?host=/run/postgresql',
  'postgres://u:a,b@db/mk',
])('takes %s for a database', (DATABASE_URL) => {
  expect(parse({ DATABASE_URL, ENCRYPTION_KEYS: KEY }).databaseUrl).toBe(DATABASE_URL);
});

it.each(['a..b', '192.168.1.1', 'b', 'Bucket'])('rejects %s as a bucket', (MINIO_BUCKET) => {
  const minio = { MINIO_ENDPOINT: 'http://minio:9000', MINIO_ACCESS_KEY: 'x', MINIO_SECRET_KEY: 'y' };
  expect(problems({ ...minio, MINIO_BUCKET })).toEqual(['MINIO_BUCKET']);
});

it('wants a secret of sessions that cannot be guessed, in production', () => {
  const required = { DATABASE_URL: 'postgres://u@db/mk', ENCRYPTION_KEYS: KEY };
  for (const SESSION_JWT_SECRET of ['too short', 'x'.repeat(31)]) {
    expect(problems({ ...required, SESSION_JWT_SECRET })).toEqual([]);
    expect(problems({ ...required, SESSION_JWT_SECRET, NODE_ENV: 'production' })).toContain(
      'SESSION_JWT_SECRET',
    );
  }
});

it('names all problems at once, one line each', () => {
  expect(
    problems({ PORT: 'x', LOG_LEVEL: 'loud', MINIO_BUCKET: 'b', NODE_ENV: 'production' }).sort(),
  ).toEqual(['ENCRYPTION_KEYS', 'LOG_LEVEL', 'MINIO_BUCKET', 'PORT', 'SESSION_JWKS_URL']);
});

it.each([
  [{ NODE_ENV: 'production' }, ['ENCRYPTION_KEYS', 'SESSION_JWKS_URL']],
  [{ NODE_ENV: 'production', SESSION_JWKS_URL: 'https://id/jwks', ENCRYPTION_KEYS: KEY }, []],
  [{ NODE_ENV: 'production', SESSION_JWT_SECRET: SECRET, ENCRYPTION_KEYS: KEY }, []],
  [{ DATABASE_URL: 'postgres://db/x' }, ['ENCRYPTION_KEYS']],
  [{ USAGE_DATABASE_URL: 'postgres://standby/x' }, ['USAGE_DATABASE_URL']],
  [{ MINIO_ENDPOINT: 'http://minio:9000' }, ['MINIO_ACCESS_KEY', 'MINIO_SECRET_KEY']],
  [{ SMTP_URL: 'smtp://mail' }, ['MAIL_FROM']],
])('%j lacks %j', (variables, missing) => {
  expect(problems(variables as NodeJS.ProcessEnv).sort()).toEqual(missing);
});

it('turns the development sign-in off when there is a provider, and in production', () => {
  expect(parse({ SESSION_JWT_SECRET: SECRET }).developmentSignIn).toBe(false);
  expect(parse({ SESSION_JWKS_URL: 'https://id/jwks' })).toMatchObject({
    developmentSignIn: false,
    host: '0.0.0.0',
  });
});

it('takes an empty variable for one that is not set', () => {
  expect(parse({ PORT: '', DATABASE_URL: ' ', MINIO_ENDPOINT: '' })).toMatchObject({
    port: 3000,
    minio: undefined,
  });
});

it('makes the secrets that may be made, once, for our eyes only', () => {
  const first = parse();
  const second = parse();
  expect(second.encryptionKeys).toEqual(first.encryptionKeys);
  expect(second.session.hs256Secret).toEqual(first.session.hs256Secret);
  expect(first.encryptionKeys[0]).toHaveLength(32);
  for (const name of ['encryption-key', 'development-session']) {
    const path = join(dataDir, 'secrets', name);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^[\w+/]{43}=$/);
  }
});

it.each([
  ['below a file', () => join(dataDir, 'file', 'data')],
  ['that is a file', () => join(dataDir, 'file')],
  ['where none can be made', () => '/proc/mintkeep/data'],
])('rejects a data folder %s', (_, path) => {
  writeFileSync(join(dataDir, 'file'), '');
  expect(problems({ DATA_DIR: path() })).toEqual(['DATA_DIR']);
});

it('makes a data folder with those above it', () => {
  const path = join(dataDir, 'above', 'data');
  expect(parse({ DATA_DIR: path }).dataDir).toBe(path);
  expect(statSync(path).isDirectory()).toBe(true);
});

it('has one line for a setting, whatever is wrong in it', () => {
  expect(() =>
    parse({ CORS_ORIGINS: 'a,https://b.example,c', TRUST_PROXY: 'x, 10.0.0.0/8, 10.0.0.1/33' }),
  ).toThrow(
    'TRUST_PROXY has x, 10.0.0.1/33, which is neither an address nor a network in CIDR form\n' +
      'CORS_ORIGINS has a, c, which is not an origin such as https://app.example.com',
  );
});

it('writes nothing to disk when something is wrong', () => {
  expect(problems({ PORT: 'x' })).toEqual(['PORT']);
  expect(() => statSync(join(dataDir, 'secrets'))).toThrow('ENOENT');
});

it('cannot be changed', () => {
  const settings = parse() as { port: number };
  expect(() => (settings.port = 1)).toThrow(TypeError);
});
