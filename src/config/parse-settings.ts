import { resolve } from 'node:path';
import { LOG_LEVELS } from '../common/logger.js';
import { isDecodable } from '../common/text.js';
import { Environment } from './environment.js';
import { parseLimits } from './parse-limits.js';
import { parseMinio } from './parse-minio.js';
import { loadOrCreateSecret } from './secret-file.js';
import { HS256_SECRET_MIN_BYTES } from './settings.js';
import type { SessionSettings, Settings, SmtpSettings } from './settings.js';

const ENCRYPTION_KEY_BYTES = 32;

/** Where the service runs, which decides on defaults and on what is required. */
interface Situation {
  readonly production: boolean;
  /** Neither production nor a database of somebody else's: a developer's machine, or somebody who tries it out. */
  readonly local: boolean;
  readonly developmentSignIn: boolean;
}

/**
 * Reads the settings from environment variables. Secrets that are neither set nor required are made once
 * and kept under the data folder.
 * @throws SettingsError with one line for every wrong or missing setting
 */
export function parseSettings(variables: NodeJS.ProcessEnv): Settings {
  const env = new Environment(variables);
  const production = env.text('NODE_ENV') === 'production';
  const databaseUrl = parseDatabaseUrl(env);
  const developmentSignIn = !production && !env.has('SESSION_JWKS_URL') && !env.has('SESSION_JWT_SECRET');
  const situation: Situation = {
    production,
    local: !production && !env.has('DATABASE_URL'),
    developmentSignIn,
  };
  const dataDir = resolve(env.text('DATA_DIR') ?? './data');
  const session = parseSession(env, situation);
  const encryptionKeys = parseEncryptionKeys(env, situation);
  const settings = {
    ...{ production, developmentSignIn, dataDir, databaseUrl, minio: parseMinio(env) },
    ...parseAddresses(env, situation),
    ...parseOperations(env),
    ...parseUpstreamLimits(env, situation),
    ...parseLimits(env),
  };
  env.throwIfWrong();
  env.makeFolder('DATA_DIR', dataDir);
  const hs256Secret = developmentSignIn
    ? loadOrCreateSecret(dataDir, 'development-session')
    : session.hs256Secret;
  return Object.freeze({
    ...settings,
    session: { ...session, hs256Secret },
    encryptionKeys: encryptionKeys ?? [loadOrCreateSecret(dataDir, 'encryption-key')],
  });
}

function parseDatabaseUrl(env: Environment): string | undefined {
  const problem = problemOfHost(env.text('DATABASE_URL') ?? '');
  if (problem !== undefined) {
    env.wrong('DATABASE_URL', problem);
    return undefined;
  }
  const url = env.url('DATABASE_URL', ['postgres:', 'postgresql:']);
  if (!url) return undefined;
  if (!isDecodable(url.username + url.password + url.pathname))
    env.wrong('DATABASE_URL', 'has a percent sign that stands for itself: write %25');
  return url.href;
}

/** Of what other clients of PostgreSQL take for a URL, and `URL` does not. */
function problemOfHost(text: string): string | undefined {
  const [, host] = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text) ?? [];
  const inQuery = new URLSearchParams(text.split('?')[1]).get('host') ?? '';
  if (`${host}${inQuery}`.includes(',')) return 'must name one host, that of the primary';
  if (host !== '' || URL.canParse(text)) return undefined;
  return 'must name a host; a Unix socket is postgres://user@localhost/database?host=/run/postgresql';
}

function parseAddresses(env: Environment, { developmentSignIn }: Situation) {
  const port = env.integer('PORT', 3000, 0, 65_535);
  const publicUrl = env.baseUrl('PUBLIC_URL') ?? `http://localhost:${port}`;
  const signInUrl = env.webUrl('SIGN_IN_URL')?.href;
  return {
    port,
    host: parseHost(env, developmentSignIn),
    publicUrl,
    dashboardUrl: env.baseUrl('DASHBOARD_URL') ?? publicUrl,
    signInUrl: signInUrl ?? (developmentSignIn ? `${publicUrl}/dev/sign-in` : undefined),
    trustProxy: env.networks('TRUST_PROXY'),
    corsOrigins: env.origins('CORS_ORIGINS'),
  };
}

function parseOperations(env: Environment) {
  return {
    smtp: parseSmtp(env),
    databasePoolSize: env.integer('DATABASE_POOL_SIZE', 20, 5, 500), // fewer than 10 starve 16 clients
    adminToken: env.matching('ADMIN_TOKEN', /^\S+$/, 'must not hold white space'),
    logLevel: env.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    shutdownDelayMs: env.integer('SHUTDOWN_DELAY_MS', 0, 0, 300_000),
    busyPollMs: env.integer('BUSY_POLL_MS', 0, 0, 10_000),
    deviceCodesPerMinute: env.integer('DEVICE_CODES_PER_MINUTE', 60, 1, 1_000_000),
    keyGraceSeconds: env.integer('KEY_GRACE_SECONDS', 60, 0, 86_400),
    usageRetentionMonths: env.has('USAGE_RETENTION_MONTHS')
      ? env.integer('USAGE_RETENTION_MONTHS', 1, 1, 1_200)
      : undefined,
  };
}

function parseSmtp(env: Environment): SmtpSettings | undefined {
  const url = env.url('SMTP_URL', ['smtp:', 'smtps:']);
  if (!env.has('SMTP_URL')) {
    if (env.has('MAIL_FROM')) env.wrong('MAIL_FROM', 'is set, but SMTP_URL is not');
    return undefined;
  }
  if (url?.hostname === '') env.wrong('SMTP_URL', 'must name a host');
  const from = env.required('MAIL_FROM', 'with SMTP_URL');
  if (from !== undefined && !/^[^@\r\n]+@[^@\r\n]+$/.test(from)) env.wrong('MAIL_FROM', 'must be an address');
  return url && from !== undefined ? { url: url.href, from } : undefined;
}

function parseUpstreamLimits(env: Environment, { local }: Situation) {
  const milliseconds = (name: string, fallback: number) => env.integer(name, fallback, 1, 3_600_000);
  return {
    upstreamPrivateNetworks: env.oneOf(
      'UPSTREAM_PRIVATE_NETWORKS',
      ['allow', 'deny'],
      local ? 'allow' : 'deny',
    ),
    upstreamConnectTimeoutMs: milliseconds('UPSTREAM_CONNECT_TIMEOUT_MS', 5_000),
    upstreamFirstByteTimeoutMs: milliseconds('UPSTREAM_FIRST_BYTE_TIMEOUT_MS', 120_000),
    upstreamResponseTimeoutMs: milliseconds('UPSTREAM_RESPONSE_TIMEOUT_MS', 600_000),
    upstreamIdleTimeoutMs: milliseconds('UPSTREAM_IDLE_TIMEOUT_MS', 120_000),
  };
}

function parseSession(env: Environment, { production }: Situation): SessionSettings {
  const secret = env.text('SESSION_JWT_SECRET');
  const jwksUrl = env.webUrl('SESSION_JWKS_URL');
  if (production && secret !== undefined && Buffer.byteLength(secret) < HS256_SECRET_MIN_BYTES) {
    env.wrong('SESSION_JWT_SECRET', `must have at least ${HS256_SECRET_MIN_BYTES} bytes`);
  }
  if (production && secret === undefined && !env.has('SESSION_JWKS_URL')) {
    env.wrong('SESSION_JWKS_URL', 'or SESSION_JWT_SECRET is required with NODE_ENV=production');
  }
  const cookieName = env.matching('SESSION_COOKIE_NAME', /^[\w!#$%&'*+.^`|~-]+$/, 'must be a cookie name');
  return {
    jwksUrl,
    hs256Secret: secret === undefined ? undefined : Buffer.from(secret),
    issuer: env.text('SESSION_JWT_ISSUER'),
    audience: env.text('SESSION_JWT_AUDIENCE'),
    cookieName: cookieName ?? 'mintkeep_session',
  };
}

function parseHost(env: Environment, developmentSignIn: boolean): string {
  const host = env.text('HOST') ?? (developmentSignIn ? '127.0.0.1' : '0.0.0.0');
  if (developmentSignIn && !/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) {
    env.wrong(
      'HOST',
      'must be a loopback address while the development sign-in is on (set SESSION_JWKS_URL or SESSION_JWT_SECRET)',
    );
  }
  return host;
}

/** Undefined: not set, and a key may be made. */
function parseEncryptionKeys(env: Environment, { local }: Situation): Buffer[] | undefined {
  const list = env.list('ENCRYPTION_KEYS');
  if (list.length === 0) {
    if (!local) env.wrong('ENCRYPTION_KEYS', 'is required with DATABASE_URL or NODE_ENV=production');
    return undefined;
  }
  const keys = list.map((text) => Buffer.from(text, 'base64'));
  if (!keys.every((key, i) => key.length === ENCRYPTION_KEY_BYTES && key.toString('base64') === list[i])) {
    env.wrong(
      'ENCRYPTION_KEYS',
      'must be base64 of 32 bytes each, comma-separated (openssl rand -base64 32)',
    );
  }
  return keys;
}
