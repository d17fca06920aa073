import { choice, integer } from './declaration.js';

const MILLISECONDS = { min: 1, max: 3_600_000, unit: 'ms' } as const;

export const UPSTREAMS = {
  UPSTREAM_PRIVATE_NETWORKS: choice({
    choices: ['allow', 'deny'],
    defaultText: '`deny`; `allow` outside production without `DATABASE_URL`',
    description: 'Upstreams on loopback and private addresses.',
  }),
  UPSTREAM_CONNECT_TIMEOUT_MS: integer({
    ...MILLISECONDS,
    default: 5_000,
    description: 'Name resolution, connection and TLS handshake.',
  }),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: integer({
    ...MILLISECONDS,
    default: 120_000,
    description: 'Time until the response to a request for a stream begins.',
  }),
  UPSTREAM_RESPONSE_TIMEOUT_MS: integer({
    ...MILLISECONDS,
    default: 600_000,
    description: 'Time until any other response begins.',
  }),
  UPSTREAM_IDLE_TIMEOUT_MS: integer({
    ...MILLISECONDS,
    default: 120_000,
    description: 'Silence within a response.',
  }),
};
