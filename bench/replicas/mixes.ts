import { requestBytes } from '../proxy/requests.js';
import type { Target } from '../support/open-loop.js';
import { create, newSession, put } from '../support/session.js';

/** Keys without any limit, and keys whose organizations and keys have limits. */
export const MIXES = ['without limits', 'with limits'] as const;
export type Mix = (typeof MIXES)[number];

/** Requests of the keys of one mix, one for each key. */
export type MixRequests = Readonly<Record<Mix, readonly Buffer[]>>;

/** Number of organizations of each mix. */
export const ORGANIZATIONS = 20;
const KEYS_PER_ORGANIZATION = 10;
/** Number of keys of each mix. */
export const KEYS = ORGANIZATIONS * KEYS_PER_ORGANIZATION;

/** No load reaches these limits. */
const ORGANIZATION_LIMITS = {
  requests_per_minute: 1_000_000,
  tokens_per_minute: 1_000_000_000,
  budget: { usd: 1_000_000_000, period: 'month' },
};
const KEY_LIMITS = { requests_per_minute: 1_000_000 };
/** A budget counts only requests with a price. */
const PRICES = [{ model: 'plain', input: 1, output: 2 }];

/** Creates organizations with an upstream and keys through one replica. */
export async function createMixes(port: number, upstreamPort: number): Promise<MixRequests> {
  const keysOf = async (mix: Mix) => {
    const requests: Buffer[] = [];
    for (let i = 0; i < ORGANIZATIONS; i++) {
      const session = await newSession(`${mix.replace(' ', '-')}-${i}`);
      await createUpstream(port, session, upstreamPort);
      if (mix === 'with limits') {
        await put(port, session, 'limits', { organization: ORGANIZATION_LIMITS });
        await put(port, session, 'prices', { prices: PRICES });
      }
      const limits = mix === 'with limits' ? KEY_LIMITS : undefined;
      for (let j = 0; j < KEYS_PER_ORGANIZATION; j++)
        requests.push((await createKey(port, session, limits)).request);
    }
    return requests;
  };
  return { 'without limits': await keysOf('without limits'), 'with limits': await keysOf('with limits') };
}

export async function createUpstream(port: number, session: string, upstreamPort: number): Promise<void> {
  await create(port, session, 'upstreams', {
    name: 'mock',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'sk-the-key-of-the-upstream',
  });
}

/** Creates a key of the personal organization. @returns its id and a request with it */
export async function createKey(
  port: number,
  session: string,
  limits?: object,
): Promise<{ id: number; request: Buffer }> {
  const response = await create(port, session, 'keys', { limits });
  const { id, api_key: key } = (await response.json()) as { id: number; api_key: string };
  return { id, request: requestBytes({ port, headers: { Authorization: `Bearer ${key}` } }, 'plain') };
}

/** Requests in the order in which they are sent: the replicas take turns, and each key visits each replica. */
export function spreadEvenly(requests: readonly Buffer[], ports: readonly number[]): Target[] {
  return ports.flatMap((_, turn) =>
    requests.map((request, i) => ({ request, port: ports[(i + turn) % ports.length]! })),
  );
}
