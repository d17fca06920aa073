import type { Invalidation, Invalidations } from './invalidations.js';
import { LeasedCache } from './leased-cache.js';

const { jest } = import.meta;

const GRACE_MS = 1_000;

let replica: {
  leased: boolean;
  heardAt: number;
  hears(invalidation: Invalidation): void;
  missesSomething(): void;
};
let cache: LeasedCache<string, string>;

beforeEach(() => {
  replica = { leased: true, heardAt: -Infinity, hears: () => undefined, missesSomething: () => undefined };
  const invalidations = Object.assign(replica, {
    on: (listener: typeof replica.hears, forget: () => void) =>
      Object.assign(replica, { hears: listener, missesSomething: forget }),
  });
  cache = new LeasedCache(invalidations as unknown as Invalidations, 10, ({ key }) => key as string);
});

/** Reads the entry, and `meanwhile` happens. */
function read(key: string, meanwhile?: () => void): void {
  const beginning = cache.beginReading();
  meanwhile?.();
  cache.keep(key, 'value', beginning);
}

describe('what was read', () => {
  it('is believed while there is a lease', () => {
    read('a');
    expect(cache.believed('a')).toBe('value');
    replica.leased = false;
    expect(cache.believed('a')).toBeUndefined();
  });

  it('is forgotten when it changes, and nothing else is', () => {
    for (const key of ['a', 'b']) read(key);
    replica.hears({ topic: 'changed', key: 'a' });
    expect([cache.believed('a'), cache.believed('b')]).toEqual([undefined, 'value']);
  });

  it('is not believed after a gap', () => {
    read('a');
    replica.missesSomething();
    expect(cache.believed('a')).toBeUndefined();
  });

  it.each<[string, () => void]>([
    ['something changed', () => replica.hears({ topic: 'changed', key: 'a' })],
    ['there was a gap', () => replica.missesSomething()],
  ])('is not kept where %s meanwhile', (_, meanwhile) => {
    read('a', meanwhile);
    expect(cache.believed('a')).toBeUndefined();
    replica.leased = false;
    expect(cache.known('a', GRACE_MS)).toBeUndefined();
  });
});

describe('without the database', () => {
  const secondsAgo = (seconds: number) => performance.now() - seconds * 1_000;

  it('what was certain a short time ago is known, and only without a lease', () => {
    read('a');
    expect(cache.known('a', GRACE_MS)).toBeUndefined();
    replica.leased = false;
    expect(cache.known('a', GRACE_MS)).toBe('value');
    expect(cache.known('a', -1)).toBeUndefined();
  });

  it('all that was read is certain for as long as the replica heard of everything', () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    read('a');
    clock.mockRestore();
    replica.leased = false;
    expect(cache.known('a', GRACE_MS)).toBeUndefined();
    replica.heardAt = performance.now();
    expect(cache.known('a', GRACE_MS)).toBe('value');
  });

  it('what is from before a gap is certain until the gap began, whatever was heard since', () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    read('a');
    clock.mockRestore();
    replica.heardAt = secondsAgo(30);
    for (let gaps = 0; gaps < 2; gaps++) {
      replica.missesSomething();
      replica.heardAt = performance.now();
    }
    replica.leased = false;
    expect(cache.known('a', GRACE_MS)).toBeUndefined();
    expect(cache.known('a', 31_000)).toBe('value');
  });

  it('counts from when reading began', () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    read('a', () => clock.mockRestore());
    replica.leased = false;
    expect(cache.known('a', GRACE_MS)).toBeUndefined();
  });
});
