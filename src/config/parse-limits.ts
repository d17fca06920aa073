import { totalmem } from 'node:os';
import type { Environment } from './environment.js';
import type { Settings } from './settings.js';

type Limits = Pick<
  Settings,
  | 'headersTimeoutMs'
  | 'bodyTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'clientIdleTimeoutMs'
  | 'headerLimitBytes'
  | 'headerCountLimit'
  | 'proxyBodyLimitBytes'
  | 'proxyBodyMemoryBytes'
  | 'proxyStreamsPerKey'
  | 'proxyRequestsPerMinute'
>;

/** What clients are held to. */
export function parseLimits(env: Environment): Limits {
  const milliseconds = (name: string, fallback: number) => env.integer(name, fallback, 1, 3_600_000);
  return {
    headersTimeoutMs: milliseconds('HEADERS_TIMEOUT_MS', 15_000),
    bodyTimeoutMs: milliseconds('BODY_TIMEOUT_MS', 300_000),
    keepAliveTimeoutMs: milliseconds('KEEP_ALIVE_TIMEOUT_MS', 75_000),
    clientIdleTimeoutMs: milliseconds('CLIENT_IDLE_TIMEOUT_MS', 300_000),
    headerLimitBytes: env.integer('HEADER_LIMIT', 16_384, 1_024, 1_048_576),
    headerCountLimit: env.integer('HEADER_COUNT_LIMIT', 100, 10, 10_000),
    proxyBodyLimitBytes: env.integer('PROXY_BODY_LIMIT', 33_554_432, 1, 1_073_741_824),
    proxyBodyMemoryBytes: env.integer('PROXY_BODY_MEMORY', eighthOfMemory(), 1, Number.MAX_SAFE_INTEGER),
    proxyStreamsPerKey: env.integer('PROXY_STREAMS_PER_KEY', 200, 0, 1_000_000),
    proxyRequestsPerMinute: env.integer('PROXY_REQUESTS_PER_MINUTE', 0, 0, 1_000_000_000),
  };
}

/** Of what the container may use, where that is less than what there is. */
function eighthOfMemory(): number {
  const constrained = process.constrainedMemory() || Infinity; // 0 where that is not known
  return Math.floor(Math.min(constrained, totalmem()) / 8);
}
