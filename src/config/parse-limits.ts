import type { Environment } from './environment.js';
import type { Settings } from './settings.js';

type Limits = Pick<
  Settings,
  | 'httpFastPath'
  | 'headerLimitBytes'
  | 'proxyBodyLimitBytes'
  | 'proxyBodyMemoryBytes'
  | 'proxyStreamsPerKey'
  | 'proxyRequestsPerMinute'
  | 'proxyRequestsInFlight'
  | 'deviceCodesPerMinute'
  | 'keyGraceSeconds'
>;

/** Limits of clients' requests. */
export function parseLimits(env: Environment): Limits {
  return {
    httpFastPath: env.choice('HTTP_FAST_PATH') === 'on',
    headerLimitBytes: env.integer('HEADER_LIMIT'),
    proxyBodyLimitBytes: env.integer('PROXY_BODY_LIMIT'),
    proxyBodyMemoryBytes: env.integer('PROXY_BODY_MEMORY'),
    proxyStreamsPerKey: env.integer('PROXY_STREAMS_PER_KEY'),
    proxyRequestsPerMinute: env.integer('PROXY_REQUESTS_PER_MINUTE'),
    proxyRequestsInFlight: env.integer('PROXY_REQUESTS_IN_FLIGHT'),
    deviceCodesPerMinute: env.integer('DEVICE_CODES_PER_MINUTE'),
    keyGraceSeconds: env.integer('KEY_GRACE_SECONDS'),
  };
}
