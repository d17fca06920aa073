import type { Json } from './json-schema.js';

const KINDS = ['requests', 'tokens'] as const;

/** Header components that {@link headers} and {@link RATE_LIMIT_HEADERS} refer to. */
export const HEADERS: Json = {
  RequestId: {
    required: true,
    schema: { type: 'string', examples: ['6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11'] },
    description: 'Id of the request: the one that the client sent, or a new one.',
  },
  ...Object.fromEntries(KINDS.flatMap(rateLimitHeaders)),
};

/** Headers of limits of requests and tokens: optional, because they are present only while such a limit applies. */
export const RATE_LIMIT_HEADERS: Json = Object.fromEntries(
  KINDS.flatMap(rateLimitHeaders).map(([name]) => [name, { $ref: `#/components/headers/${name}` }]),
);

/**
 * Describes the headers of a response: `X-Request-Id`, which every response has, and others.
 * @param sometimes headers that are not part of every response with the status
 */
export function headers(always: readonly string[], sometimes: readonly string[] = []): Json {
  const schema = { type: 'string' };
  const others = sometimes.filter((name) => !always.includes(name));
  return {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...Object.fromEntries(always.map((name) => [name, { required: true, schema }])),
    ...Object.fromEntries(others.map((name) => [name, { schema }])),
  };
}

function rateLimitHeaders(kind: (typeof KINDS)[number]): [name: string, header: Json][] {
  const scope = `Present while a limit of ${kind} applies. Belongs to the level that allows the fewest further ${kind}.`;
  return [
    [
      `x-ratelimit-limit-${kind}`,
      { description: `Limit of ${kind} per minute. ${scope}`, schema: { type: 'integer', examples: [60] } },
    ],
    [
      `x-ratelimit-remaining-${kind}`,
      {
        description: `Further ${kind} that are allowed now. ${scope}`,
        schema: { type: 'integer', examples: [59] },
      },
    ],
    [
      `x-ratelimit-reset-${kind}`,
      {
        description: `Time until the whole limit is available again, as the providers write it. ${scope}`,
        schema: { type: 'string', examples: ['6m0s'] },
      },
    ],
  ];
}
