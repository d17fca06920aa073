import { resolve } from 'node:path';
import { isLoopback } from './addresses.js';
import { prepareDataFolder } from './data-folder.js';
import { Environment } from './environment.js';
import { parseDatabaseUrls } from './parse-database-url.js';
import { parseLimits } from './parse-limits.js';
import { parseMinio } from './parse-minio.js';
import { parseSession } from './parse-session.js';
import { parseSignIn } from './parse-sign-in.js';
import { loadOrCreateSecret } from './secret-file.js';
import type { Settings, SmtpSettings } from './settings.js';

const ENCRYPTION_KEY_BYTES = 32;

/** Kind of the environment, which decides on defaults and on required settings. */
interface Situation {
  readonly production: boolean;
  /** Neither production nor an external database: a developer's machine, or a first try. */
  readonly local: boolean;
  readonly developmentSignIn: boolean;
}

/**
 * Reads the settings from environment variables. Secrets that are neither set nor required are generated once
 * and kept under the data folder.
 * @throws SettingsError with one line for every wrong or missing setting
 */
export function parseSettings(variables: NodeJS.ProcessEnv): Settings {
  const env = new Environment(variables);
  const situation = situationOf(env);
  const { production, developmentSignIn } = situation;
  const dataDir = resolve(env.text('DATA_DIR'));
  const session = parseSession(env, production);
  const encryptionKeys = parseEncryptionKeys(env, situation);
  const settings = {
    ...{ production, developmentSignIn, dataDir, minio: parseMinio(env) },
    ...parseDatabaseUrls(env),
    ...parseAddresses(env, situation),
    ...parseOperations(env),
    ...parseUpstreamLimits(env, situation),
    ...parseLimits(env),
  };
  env.throwIfWrong();
  prepareDataFolder(env, dataDir);
  const hs256Secret = developmentSignIn
    ? loadOrCreateSecret(dataDir, 'development-session')
    : session.hs256Secret;
  return Object.freeze({
    ...settings,
    session: { ...session, hs256Secret },
    encryptionKeys: encryptionKeys ?? [loadOrCreateSecret(dataDir, 'encryption-key')],
  });
}

function situationOf(env: Environment): Situation {
  const production = env.text('NODE_ENV') === 'production';
  return {
    production,
    local: !production && !env.has('DATABASE_URL'),
    developmentSignIn: !production && !env.has('SESSION_JWKS_URL') && !env.has('SESSION_JWT_SECRET'),
  };
}

function parseAddresses(env: Environment, { developmentSignIn }: Situation) {
  const port = env.integer('PORT');
  const publicUrl = env.baseUrl('PUBLIC_URL') ?? `http://localhost:${port}`;
  return {
    port,
    host: parseHost(env, developmentSignIn),
    publicUrl,
    dashboardUrl: env.baseUrl('DASHBOARD_URL') ?? publicUrl,
    ...parseSignIn(env, publicUrl, developmentSignIn),
    trustProxy: env.networks('TRUST_PROXY'),
    corsOrigins: env.origins('CORS_ORIGINS'),
  };
}

function parseHost(env: Environment, developmentSignIn: boolean): string {
  const host = env.text('HOST') ?? (developmentSignIn ? '127.0.0.1' : '0.0.0.0');
  if (developmentSignIn && !isLoopback(host)) {
    env.wrong(
      'HOST',
      'must be a loopback address while the development sign-in is on (set SESSION_JWKS_URL or SESSION_JWT_SECRET)',
    );
  }
  return host;
}

function parseOperations(env: Environment) {
  return {
    smtp: parseSmtp(env),
    databasePoolSize: env.integer('DATABASE_POOL_SIZE'),
    adminToken: env.text('ADMIN_TOKEN'),
    logLevel: env.choice('LOG_LEVEL'),
    shutdownDelayMs: env.integer('SHUTDOWN_DELAY_MS'),
    usageRetentionMonths: env.integer('USAGE_RETENTION_MONTHS'),
  };
}

function parseSmtp(env: Environment): SmtpSettings | undefined {
  const url = env.url('SMTP_URL');
  if (!env.has('SMTP_URL')) {
    if (env.has('MAIL_FROM')) env.wrong('MAIL_FROM', 'is set, but SMTP_URL is not');
    return undefined;
  }
  if (url?.hostname === '') env.wrong('SMTP_URL', 'must name a host');
  const from = env.required('MAIL_FROM', 'with SMTP_URL');
  return url && from !== undefined ? { url: url.href, from } : undefined;
}

function parseUpstreamLimits(env: Environment, { local }: Situation) {
  return {
    upstreamPrivateNetworks: env.choice('UPSTREAM_PRIVATE_NETWORKS') ?? (local ? 'allow' : 'deny'),
    upstreamConnectTimeoutMs: env.integer('UPSTREAM_CONNECT_TIMEOUT_MS'),
    upstreamFirstByteTimeoutMs: env.integer('UPSTREAM_FIRST_BYTE_TIMEOUT_MS'),
    upstreamResponseTimeoutMs: env.integer('UPSTREAM_RESPONSE_TIMEOUT_MS'),
    upstreamIdleTimeoutMs: env.integer('UPSTREAM_IDLE_TIMEOUT_MS'),
  };
}

/** Undefined if no key is set and one may be generated. */
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
