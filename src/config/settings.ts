import type { LogLevel } from '../common/logging/logger.js';

/** Minimum of RFC 7518, section 3.2. With one session, a shorter secret can be found by trying. */
export const HS256_SECRET_MIN_BYTES = 32;

/** Verification of sessions. At least one of `jwksUrl` and `hs256Secret` is present. */
export interface SessionSettings {
  readonly jwksUrl?: URL;
  readonly hs256Secret?: Buffer;
  readonly issuer?: string;
  readonly audience?: string;
  readonly cookieName: string;
  /** Whether an address counts as verified only if the session says so. */
  readonly requireEmailVerified: boolean;
}

/** The way in which the dashboard signs people in. */
export type SignIn =
  | { readonly kind: 'development' }
  /** Supabase Auth: its base URL without a trailing slash, and its public API key. */
  | { readonly kind: 'supabase'; readonly url: string; readonly anonKey?: string }
  /** Another page, which returns with a session in the fragment. */
  | { readonly kind: 'redirect'; readonly url: string }
  | { readonly kind: 'none' };

/** The web application. */
export interface DashboardSettings {
  readonly signIn: SignIn;
}

/** S3 service. */
export interface MinioSettings {
  readonly endpoint: URL;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  readonly region: string;
}

/** Mail server. */
export interface SmtpSettings {
  /** `smtp:` (with STARTTLS if offered) or `smtps:`, with user and password if needed. */
  readonly url: string;
  /** Sender's address, with or without a name. */
  readonly from: string;
}

/** All settings: parsed, checked and frozen. Injected under this class. */
export abstract class Settings {
  abstract readonly port: number;
  abstract readonly host: string;
  /** Base URL at which browsers and tools reach the service; no trailing slash. */
  abstract readonly publicUrl: string;
  abstract readonly dashboardUrl: string;
  /** Undefined: the web application is not served. */
  abstract readonly dashboard?: DashboardSettings;
  /** Page for a browser without a session. Undefined if it is not set and nothing here signs people in. */
  abstract readonly signInUrl?: string;
  /** Absolute path of the folder for all data on this machine. */
  abstract readonly dataDir: string;
  /** Undefined: the embedded PostgreSQL. */
  abstract readonly databaseUrl?: string;
  /** Standby of that database, for queries of usage. Undefined: {@link databaseUrl} serves them. */
  abstract readonly usageDatabaseUrl?: string;
  /** Connections of a replica. Proxied requests and messages between replicas have their own. */
  abstract readonly databasePoolSize: number;
  /** Undefined: files below {@link dataDir}. */
  abstract readonly minio?: MinioSettings;
  abstract readonly session: SessionSettings;
  /** Whether `NODE_ENV` is `production`, as in the image. */
  abstract readonly production: boolean;
  abstract readonly developmentSignIn: boolean;
  /** AES-256 keys; the first one encrypts. */
  abstract readonly encryptionKeys: readonly Buffer[];
  /** Undefined: invitations are not sent by mail. */
  abstract readonly smtp?: SmtpSettings;
  abstract readonly adminToken?: string;
  /** Addresses and CIDRs of the proxies whose `X-Forwarded-For` is used. */
  abstract readonly trustProxy: readonly string[];
  abstract readonly corsOrigins: readonly string[];
  abstract readonly logLevel: LogLevel;
  /** Time for which a stopping replica reports that it is not ready and still accepts requests. */
  abstract readonly shutdownDelayMs: number;
  abstract readonly upstreamPrivateNetworks: 'allow' | 'deny';
  abstract readonly deviceCodesPerMinute: number;
  abstract readonly keyGraceSeconds: number;
  /** Whole months (UTC), beside the current one, for which usage records are kept. Undefined: forever. */
  abstract readonly usageRetentionMonths?: number;
  /** Whether simple requests below `/v1` are read on the fast path; otherwise Node's parser reads all of them. */
  abstract readonly httpFastPath: boolean;
  /** Request line and headers together. */
  abstract readonly headerLimitBytes: number;
  abstract readonly proxyBodyLimitBytes: number;
  /** Total size of all bodies to `/v1` above 1 MiB that a replica holds at a time. */
  abstract readonly proxyBodyMemoryBytes: number;
  /** Open streams of a key on one replica; 0: unlimited. */
  abstract readonly proxyStreamsPerKey: number;
  /** Size of a key's token bucket on one replica, and its refill per minute; 0: unlimited. */
  abstract readonly proxyRequestsPerMinute: number;
  /** Concurrent requests of an organization at one replica; 0: unlimited. */
  abstract readonly proxyRequestsInFlight: number;
  abstract readonly upstreamConnectTimeoutMs: number;
  abstract readonly upstreamFirstByteTimeoutMs: number;
  abstract readonly upstreamResponseTimeoutMs: number;
  abstract readonly upstreamIdleTimeoutMs: number;
}
