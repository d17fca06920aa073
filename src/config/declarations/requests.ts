import { totalmem } from 'node:os';
import { choice, integer } from './declaration.js';

export const REQUESTS = {
  DEVICE_CODES_PER_MINUTE: integer({
    default: 60,
    min: 1,
    max: 1_000_000,
    description: 'Requests for device codes from one client address. Beyond: 429 `rate_limited`.',
  }),
  KEY_GRACE_SECONDS: integer({
    default: 60,
    min: 0,
    max: 86_400,
    unit: 's',
    description: 'Time for which verified keys are served while the database is unreachable.',
  }),
  HEADER_LIMIT: integer({
    default: 16_384,
    min: 1_024,
    max: 1_048_576,
    unit: 'bytes',
    description: 'Request line and headers together. Beyond: 431.',
  }),
  HTTP_FAST_PATH: choice({
    default: 'on',
    choices: ['on', 'off'],
    description: 'Reader of simple requests to `/v1`. `off`: Node’s HTTP parser reads every request.',
  }),
  PROXY_BODY_LIMIT: integer({
    default: 33_554_432,
    min: 1,
    max: 1_073_741_824,
    unit: 'bytes',
    description: 'Body of a request to `/v1`. Beyond: 413 `request_too_large`.',
  }),
  PROXY_BODY_MEMORY: integer({
    default: eighthOfMemory,
    defaultText: 'an eighth of the memory of the container or machine',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    unit: 'byte',
    description:
      'All bodies above 1 MiB that a replica holds for `/v1`; an organization holds at most half, or one body. ' +
      'Beyond: further bodies wait unread.',
  }),
  PROXY_STREAMS_PER_KEY: integer({
    default: 200,
    min: 0,
    max: 1_000_000,
    description: 'Open streams of one key on one replica; 0: unlimited. Beyond: 429 `too_many_streams`.',
  }),
  PROXY_REQUESTS_PER_MINUTE: integer({
    default: 0,
    min: 0,
    max: 1_000_000_000,
    description:
      'Token bucket of one key on one replica: its size, and its refill per minute; 0: unlimited. ' +
      'Beyond: 429 `rate_limited` with `Retry-After`.',
  }),
  PROXY_REQUESTS_IN_FLIGHT: integer({
    default: 500,
    min: 0,
    max: 1_000_000,
    description:
      'Concurrent requests of one organization on one replica, from headers to the end of the response; ' +
      '0: unlimited. Beyond: 429 `rate_limited` with `Retry-After: 1`.',
  }),
};

/** Memory of the container if that is limited, otherwise of the machine. */
function eighthOfMemory(): number {
  const constrained = process.constrainedMemory() || Infinity; // 0 if the limit is unknown
  return Math.floor(Math.min(constrained, totalmem()) / 8);
}
