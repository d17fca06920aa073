import type { Json } from './json-schema.js';

/** Header components that {@link headers} refers to. */
export const HEADERS: Json = {
  RequestId: {
    required: true,
    schema: { type: 'string', examples: ['6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11'] },
    description: 'Id of the request: the one that the client sent, or a new one.',
  },
};

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
