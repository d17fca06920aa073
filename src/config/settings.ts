import type { LogLevel } from '../common/logger.js';

/** RFC 7518, section 3.2: whoever sees one session may otherwise find the secret by trying. */
export const HS256_SECRET_MIN_BYTES = 32;

/** How sessions are verified; at least one of `jwksUrl` and `hs256Secret` is there. */
export interface SessionSettings {
  readonly jwksUrl?: URL;
  readonly hs256Secret?: Buffer;
  readonly issuer?: string;
  readonly audience?: string;
  readonly cookieName: string;
}

/** An S3 service. */
export interface MinioSettings {
  readonly endpoint: URL;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  readonly region?: string;
}

/** Where mails are handed in. */
export interface SmtpSettings {
  /** `smtp:` (with STARTTLS where offered) or `smtps:`, with user and password where needed. */
  readonly url: string;
  /** The sender's address, with or without a name. */
  readonly from: string;
}

/** Everything that can be set from outside, parsed, checked and frozen. Injected under this class. */
export abstract class Settings {
  abstract readonly port: number;
  abstract readonly host: string;
  /** Where browsers and tools reach the service; no trailing slash. */
  abstract readonly publicUrl: string;
  abstract readonly dashboardUrl: string;
  /** Where a browser without a session is sent; undefined when nothing is set and the development sign-in is off. */
  abstract readonly signInUrl?: string;
  /** Absolute path of the folder for everything that is kept on this machine. */
  abstract readonly dataDir: string;
  /** Undefined: the embedded PostgreSQL. */
  abstract readonly databaseUrl?: string;
  /** Connections of a replica for all but proxied requests and what replicas tell each other. */
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
  /** Addresses and CIDRs of the proxies whose `X-Forwarded-For` is believed. */
  abstract readonly trustProxy: readonly string[];
  abstract readonly corsOrigins: readonly string[];
  abstract readonly logLevel: LogLevel;
  /** For how long a stopping replica says that it is not ready, and goes on accepting requests. */
  abstract readonly shutdownDelayMs: number;
  /** For how long a replica at the proxy does not sleep after something came; 0: it sleeps at once. */
  abstract readonly busyPollMs: number;
  abstract readonly upstreamPrivateNetworks: 'allow' | 'deny';
  abstract readonly deviceCodesPerMinute: number;
  abstract readonly keyGraceSeconds: number;
  /** Whole months (UTC) that records of usage are kept beside the current one; undefined: for ever. */
  abstract readonly usageRetentionMonths?: number;
  /** From the beginning of a request, or of its connection, until its headers are here. */
  abstract readonly headersTimeoutMs: number;
  /** From the beginning of a request until all of it is here; how long its answer takes is another matter. */
  abstract readonly bodyTimeoutMs: number;
  /** How long a connection is kept for the next request. */
  abstract readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of an answer that waits for it. */
  abstract readonly clientIdleTimeoutMs: number;
  /** All headers of a request together, with its first line. */
  abstract readonly headerLimitBytes: number;
  abstract readonly headerCountLimit: number;
  abstract readonly proxyBodyLimitBytes: number;
  /** Of all bodies to `/v1` above 1 MiB that a replica keeps at a time. */
  abstract readonly proxyBodyMemoryBytes: number;
  /** Streams that are open at the same time, at one replica; 0: as many as come. */
  abstract readonly proxyStreamsPerKey: number;
  /** At one replica; 0: as many as come. */
  abstract readonly proxyRequestsPerMinute: number;
  abstract readonly upstreamConnectTimeoutMs: number;
  abstract readonly upstreamFirstByteTimeoutMs: number;
  abstract readonly upstreamResponseTimeoutMs: number;
  abstract readonly upstreamIdleTimeoutMs: number;
}
