import type { Json } from './json-schema.js';

/** What {@link headers} refers to. */
export const HEADERS: Json = {
  RequestId: {
    ...{ required: true, schema: { type: 'string', examples: ['6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11'] } },
    description: 'That of the request, or a new one.',
  },
};

/**
 * The headers of an answer: `X-Request-Id`, which all of them have, and others.
 * @param sometimes there for a reason that the status alone does not tell
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
