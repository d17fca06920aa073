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
  cache = new LeasedCache(
    invalidations as unknown as Invalidations,
    10,
    GRACE_MS,
    ({ key }) => key as string,
  );
});

/** Reads the entry, and `meanwhile` happens. */
async function read(key: string, meanwhile?: () => void): Promise<void> {
  await cache.ask(key, () => {
    meanwhile?.();
    return Promise.resolve('value');
  });
}

describe('what was read', () => {
  it('is believed while there is a lease', async () => {
    await read('a');
    expect(cache.believed('a')).toBe('value');
    replica.leased = false;
    expect(cache.believed('a')).toBeUndefined();
  });

  it('is forgotten when it changes, and nothing else is', async () => {
    for (const key of ['a', 'b']) await read(key);
    replica.hears({ topic: 'changed', key: 'a' });
    expect([cache.believed('a'), cache.believed('b')]).toEqual([undefined, 'value']);
  });

  it('is not believed after a gap', async () => {
    await read('a');
    replica.missesSomething();
    expect(cache.believed('a')).toBeUndefined();
  });

  it.each<[string, () => void]>([
    ['something changed', () => replica.hears({ topic: 'changed', key: 'a' })],
    ['there was a gap', () => replica.missesSomething()],
  ])('is not kept where %s meanwhile', async (_, meanwhile) => {
    await read('a', meanwhile);
    expect(cache.believed('a')).toBeUndefined();
    replica.leased = false;
    expect(cache.known('a')).toBeUndefined();
  });
});

describe('without the database', () => {
  const secondsAgo = (seconds: number) => performance.now() - seconds * 1_000;
  const at = (seconds: number, look: () => void) => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + seconds * 1_000);
    look();
    clock.mockRestore();
  };

  it('what was certain a short time ago is known, and only without a lease', async () => {
    await read('a');
    expect(cache.known('a')).toBeUndefined();
    replica.leased = false;
    expect(cache.known('a')).toBe('value');
    at(2, () => expect(cache.known('a')).toBeUndefined());
  });

  it('all that was read is certain for as long as the replica heard of everything', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    await read('a');
    clock.mockRestore();
    replica.leased = false;
    expect(cache.known('a')).toBeUndefined();
    replica.heardAt = performance.now();
    expect(cache.known('a')).toBe('value');
  });

  it('what is from before a gap is certain until the gap began, whatever was heard since', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    await read('a');
    clock.mockRestore();
    replica.heardAt = secondsAgo(30);
    for (let gaps = 0; gaps < 2; gaps++) {
      replica.missesSomething();
      replica.heardAt = performance.now();
    }
    replica.leased = false;
    expect(cache.known('a')).toBeUndefined();
    at(-29.5, () => expect(cache.known('a')).toBe('value'));
  });

  it('counts from when reading began', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(secondsAgo(60));
    await read('a', () => clock.mockRestore());
    replica.leased = false;
    expect(cache.known('a')).toBeUndefined();
  });
});

describe('a question that is lost', () => {
  /** One that fails after `meanwhile`, and would not the second time. */
  const askingLost = (meanwhile: () => void) => {
    const question = jest.fn<Promise<string>, []>().mockResolvedValue('anew');
    question.mockImplementationOnce(() => {
      meanwhile();
      return Promise.reject(new Error('lost'));
    });
    return { question, answer: cache.ask('a', question) };
  };

  it('is put once more where the database is back by then', async () => {
    await read('a');
    replica.missesSomething();
    const { answer } = askingLost(() => undefined);
    await expect(answer).resolves.toEqual({ value: 'anew', isInGrace: false });
    expect(cache.believed('a')).toBe('anew');
  });

  it('is not while it is away: what is known is served', async () => {
    await read('a');
    const { question, answer } = askingLost(() => (replica.leased = false));
    replica.heardAt = performance.now();
    await expect(answer).resolves.toEqual({ value: 'value', isInGrace: true });
    expect(question).toHaveBeenCalledTimes(1);
  });

  it('is not where nothing was read before', async () => {
    const { question, answer } = askingLost(() => undefined);
    await expect(answer).rejects.toThrow('lost');
    expect(question).toHaveBeenCalledTimes(1);
  });

  it('is put once more about what is forgotten meanwhile', async () => {
    await read('a');
    const { answer } = askingLost(() => replica.hears({ topic: 'changed', key: 'a' }));
    await expect(answer).resolves.toEqual({ value: 'anew', isInGrace: false });
  });

  it('is put twice at most', async () => {
    await read('a');
    const question = jest.fn<Promise<string>, []>().mockRejectedValue(new Error('lost'));
    await expect(cache.ask('a', question)).rejects.toThrow('lost');
    expect(question).toHaveBeenCalledTimes(2);
  });

  it('is answered by what is known where the database goes away again', async () => {
    await read('a');
    const question = jest.fn<Promise<string>, []>().mockRejectedValue(new Error('lost'));
    question.mockImplementationOnce(() => Promise.reject(new Error('lost')));
    question.mockImplementationOnce(() => {
      replica.leased = false;
      return Promise.reject(new Error('lost'));
    });
    await expect(cache.ask('a', question)).resolves.toEqual({ value: 'value', isInGrace: true });
  });
});
