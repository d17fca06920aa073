import type { Invalidations } from './invalidations.js';
import type { Invalidation } from './replica-listener.js';
import { LeasedCache } from './leased-cache.js';

const { jest } = import.meta;

const GRACE_MS = 1_000;

let replica: {
  hasLease: boolean;
  lastHeartbeatAt: number;
  hears(invalidation: Invalidation): void;
  hasGap(): void;
};
let cache: LeasedCache<string, string>;

beforeEach(() => {
  replica = { hasLease: true, lastHeartbeatAt: -Infinity, hears: () => undefined, hasGap: () => undefined };
  const invalidations = Object.assign(replica, {
    on: (listener: typeof replica.hears, forget: () => void) =>
      Object.assign(replica, { hears: listener, hasGap: forget }),
  });
  cache = new LeasedCache(
    invalidations as unknown as Invalidations,
    10,
    GRACE_MS,
    ({ key }) => key as string,
  );
});

/** Reads the entry and runs `meanwhile` during the query. */
async function read(key: string, meanwhile?: () => void): Promise<void> {
  await cache.read(key, () => {
    meanwhile?.();
    return Promise.resolve('value');
  });
}

describe('an entry', () => {
  it('is fresh while the replica holds a lease', async () => {
    await read('a');
    expect(cache.getFresh('a')).toBe('value');
    replica.hasLease = false;
    expect(cache.getFresh('a')).toBeUndefined();
  });

  it('is removed by its invalidation, and no other entry is', async () => {
    for (const key of ['a', 'b']) await read(key);
    replica.hears({ topic: 'changed', key: 'a' });
    expect([cache.getFresh('a'), cache.getFresh('b')]).toEqual([undefined, 'value']);
  });

  it('is not fresh after a gap', async () => {
    await read('a');
    replica.hasGap();
    expect(cache.getFresh('a')).toBeUndefined();
  });

  it.each<[string, () => void]>([
    ['an invalidation arrives', () => replica.hears({ topic: 'changed', key: 'a' })],
    ['a gap occurs', () => replica.hasGap()],
  ])('is not cached if %s during the read', async (_, meanwhile) => {
    await read('a', meanwhile);
    expect(cache.getFresh('a')).toBeUndefined();
    replica.hasLease = false;
    expect(cache.getStale('a')).toBeUndefined();
  });
});

describe('a stale entry, without the database', () => {
  const secondsAgo = (seconds: number) => performance.now() - seconds * 1_000;
  const at = (seconds: number, look: () => void) => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + seconds * 1_000);
    look();
    clock.mockRestore();
  };

  it('may be served for the grace period, and only without a lease', async () => {
    await read('a');
    expect(cache.getStale('a')).toBeUndefined();
    replica.hasLease = false;
    expect(cache.getStale('a')).toBe('value');
    at(2, () => expect(cache.getStale('a')).toBeUndefined());
  });

  it('counts as current until the last heartbeat', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    await read('a');
    clock.mockRestore();
    replica.hasLease = false;
    expect(cache.getStale('a')).toBeUndefined();
    replica.lastHeartbeatAt = performance.now();
    expect(cache.getStale('a')).toBe('value');
  });

  it('counts as current until the gap if it is of an earlier epoch, whatever happened since', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    await read('a');
    clock.mockRestore();
    replica.lastHeartbeatAt = secondsAgo(30);
    for (let gaps = 0; gaps < 2; gaps++) {
      replica.hasGap();
      replica.lastHeartbeatAt = performance.now();
    }
    replica.hasLease = false;
    expect(cache.getStale('a')).toBeUndefined();
    at(-29.5, () => expect(cache.getStale('a')).toBe('value'));
  });

  it('ages from the beginning of its read', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    await read('a', () => clock.mockRestore());
    replica.hasLease = false;
    expect(cache.getStale('a')).toBeUndefined();
  });
});

describe('a failed read', () => {
  /** Reads with a query that fails once, after `meanwhile`. */
  const failingRead = (meanwhile: () => void) => {
    const query = jest.fn<Promise<string>, []>().mockResolvedValue('anew');
    query.mockImplementationOnce(() => {
      meanwhile();
      return Promise.reject(new Error('lost'));
    });
    return { query, result: cache.read('a', query) };
  };

  it('is retried if the database is reachable again', async () => {
    await read('a');
    replica.hasGap();
    const { result } = failingRead(() => undefined);
    await expect(result).resolves.toEqual({ value: 'anew', isStale: false });
    expect(cache.getFresh('a')).toBe('anew');
  });

  it('returns the stale entry while the database is unreachable', async () => {
    await read('a');
    const { query, result } = failingRead(() => (replica.hasLease = false));
    replica.lastHeartbeatAt = performance.now();
    await expect(result).resolves.toEqual({ value: 'value', isStale: true });
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('is not retried if there was no entry', async () => {
    const { query, result } = failingRead(() => undefined);
    await expect(result).rejects.toThrow('lost');
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('is retried if the entry is invalidated meanwhile', async () => {
    await read('a');
    const { result } = failingRead(() => replica.hears({ topic: 'changed', key: 'a' }));
    await expect(result).resolves.toEqual({ value: 'anew', isStale: false });
  });

  it('is retried once at most', async () => {
    await read('a');
    const query = jest.fn<Promise<string>, []>().mockRejectedValue(new Error('lost'));
    await expect(cache.read('a', query)).rejects.toThrow('lost');
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('returns the stale entry if the database becomes unreachable during the retry', async () => {
    await read('a');
    const query = jest.fn<Promise<string>, []>().mockRejectedValue(new Error('lost'));
    query.mockImplementationOnce(() => Promise.reject(new Error('lost')));
    query.mockImplementationOnce(() => {
      replica.hasLease = false;
      return Promise.reject(new Error('lost'));
    });
    await expect(cache.read('a', query)).resolves.toEqual({ value: 'value', isStale: true });
  });
});
