import type { LookupAddress } from 'node:dns';
import { jest } from '@jest/globals';
import { HostResolver } from './host-resolver.js';
import { NameNotFound, NameServersFailed } from './name-servers.js';

const ADDRESSES: LookupAddress[] = [{ address: '203.0.113.1', family: 4 }];
const AGAIN = { code: 'EAI_AGAIN' };
const NOT_FOUND = { code: 'ENOTFOUND' };
const [ACME, GLOBEX, INITECH] = [1, 2, 3];

/** Name servers that know all but `missing` and `local` names, and say nothing of `slow` ones; the system knows `local` ones. */
class TestResolver extends HostResolver {
  readonly asked: string[] = [];
  readonly askedSystem: string[] = [];
  readonly cancelled: string[] = [];
  readonly found = new Set<string>();
  private readonly hanging = new Map<string, () => void>();

  protected override query(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
    this.asked.push(hostname);
    if (this.found.has(hostname)) return Promise.resolve(ADDRESSES);
    if (/^missing|^local/.test(hostname)) return Promise.reject(new NameNotFound());
    if (hostname.startsWith('broken')) return Promise.reject(new NameServersFailed(false));
    if (!hostname.startsWith('slow')) return Promise.resolve(ADDRESSES);
    signal.addEventListener('abort', () => this.cancelled.push(hostname));
    return new Promise((resolve) => this.hanging.set(hostname, () => resolve(ADDRESSES)));
  }

  protected override lookUp(hostname: string): Promise<LookupAddress[]> {
    this.askedSystem.push(hostname);
    if (/^missing|^broken/.test(hostname)) return Promise.reject(Object.assign(new Error('none'), NOT_FOUND));
    if (!hostname.startsWith('local-slow')) return Promise.resolve(ADDRESSES);
    return new Promise((resolve) => this.hanging.set(hostname, () => resolve(ADDRESSES)));
  }

  answer(hostname: string): void {
    this.hanging.get(hostname)!();
  }
}

const letPass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

/** Current outcome of each lookup: its addresses, the code of its error, or undefined. */
function outcomesOf(resolving: readonly Promise<LookupAddress[]>[]): unknown[] {
  const outcomes: unknown[] = resolving.map(() => 'none');
  resolving.forEach((each, i) => {
    each.then(
      (addresses) => (outcomes[i] = addresses),
      (error: NodeJS.ErrnoException) => (outcomes[i] = error.code),
    );
  });
  return outcomes;
}

let resolver: TestResolver;
beforeEach(() => {
  jest.useFakeTimers();
  resolver = new TestResolver();
});
afterEach(() => jest.useRealTimers());

describe('slow names of one organization', () => {
  const names = Array.from({ length: 20 }, (_, i) => `slow-${i}`);

  it('do not delay names of another organization, including new names', async () => {
    outcomesOf(names.map((name) => resolver.resolve(name, ACME)));
    expect(await resolver.resolve('new', GLOBEX)).toEqual(ADDRESSES);
    const same = outcomesOf([resolver.resolve('slow-1', GLOBEX)]);
    await letPass(1_001);
    resolver.answer('slow-1');
    await letPass(0);
    expect(same).toEqual([ADDRESSES]);
    expect(await resolver.resolve('newer', GLOBEX)).toEqual(ADDRESSES);
    await letPass(5_000);
  });

  it('do not delay its own names that resolve promptly', async () => {
    outcomesOf(names.map((name) => resolver.resolve(name, ACME)));
    await letPass(2_000);
    expect(await resolver.resolve('new', ACME)).toEqual(ADDRESSES);
    await letPass(5_000);
  });

  it('are cancelled after a second, except for one', async () => {
    const outcomes = outcomesOf(names.map((name) => resolver.resolve(name, ACME)));
    await letPass(999);
    expect([resolver.cancelled, new Set(outcomes)]).toEqual([[], new Set(['none'])]);
    await letPass(1);
    expect(resolver.cancelled).toEqual(names.slice(1));
    expect(outcomes).toEqual(['none', ...names.slice(1).map(() => 'EAI_AGAIN')]);
    await letPass(4_000);
    expect(outcomes).toEqual(names.map(() => 'EAI_AGAIN'));
  });

  it('run one after the other', async () => {
    for (const name of ['slow-1', 'slow-2']) {
      const outcomes = outcomesOf([resolver.resolve(name, ACME)]);
      await letPass(3_000);
      expect(outcomes).toEqual(['none']);
      resolver.answer(name);
      await letPass(0);
      expect(outcomes).toEqual([ADDRESSES]);
    }
  });
});

describe('a name that does not resolve', () => {
  it.each([
    ['missing', NOT_FOUND, 0],
    ['broken', NOT_FOUND, 0],
    ['slow', AGAIN, 5_000],
  ])('(%s) is cached for 30 s from the start of the lookup', async (name, error, took) => {
    const outcomes = outcomesOf([resolver.resolve(name, ACME)]);
    await letPass(took);
    expect(outcomes).toEqual([error.code]);
    resolver.found.add(name);
    await letPass(29_999 - took);
    await expect(resolver.resolve(name, ACME)).rejects.toMatchObject(error);
    expect(resolver.asked).toEqual([name]);
    await letPass(1);
    expect(await resolver.resolve(name, ACME)).toEqual(ADDRESSES);
    expect(resolver.asked).toEqual([name, name]);
  });

  it('is looked up again on request, and then resolves for all', async () => {
    await expect(resolver.resolve('missing', ACME)).rejects.toMatchObject(NOT_FOUND);
    await expect(resolver.resolve('missing', ACME, { fresh: true })).rejects.toMatchObject(NOT_FOUND);
    resolver.found.add('missing');
    await expect(resolver.resolve('missing', ACME)).rejects.toMatchObject(NOT_FOUND);
    expect(await resolver.resolve('missing', ACME, { fresh: true })).toEqual(ADDRESSES);
    expect(await resolver.resolve('missing', ACME)).toEqual(ADDRESSES);
    expect(resolver.asked).toHaveLength(4);
  });

  it('does not affect other organizations', async () => {
    await expect(resolver.resolve('missing', ACME)).rejects.toMatchObject(NOT_FOUND);
    resolver.found.add('missing');
    expect(await resolver.resolve('missing', GLOBEX)).toEqual(ADDRESSES);
  });
});

describe('names that only the system knows', () => {
  it('are resolved by the system', async () => {
    expect(await resolver.resolve('local', ACME)).toEqual(ADDRESSES);
    expect([resolver.asked, resolver.askedSystem]).toEqual([['local'], ['local']]);
  });

  it('occupy one thread per organization and do not delay names of name servers', async () => {
    const outcomes = outcomesOf(
      ['local-slow-1', 'local-slow-2', 'slow'].map((name) => resolver.resolve(name, ACME)),
    );
    await letPass(1_500);
    expect(resolver.askedSystem).toEqual(['local-slow-1']);
    expect(resolver.cancelled).toEqual(['slow']); // its organization has a slow look-up already
    expect(await resolver.resolve('new', ACME)).toEqual(ADDRESSES);
    expect(await resolver.resolve('new', GLOBEX)).toEqual(ADDRESSES);
    await letPass(5_000);
    expect(outcomes).toEqual(['EAI_AGAIN', 'EAI_AGAIN', 'EAI_AGAIN']);
    resolver.answer('local-slow-1');
  });

  it('leave a thread free, and use the last address while no thread is free', async () => {
    expect(await resolver.resolve('local', GLOBEX)).toEqual(ADDRESSES);
    outcomesOf([resolver.resolve('local-slow', ACME)]);
    await letPass(0);
    expect(await resolver.resolve('local', GLOBEX)).toEqual(ADDRESSES);
    const outcomes = outcomesOf([resolver.resolve('local-new', GLOBEX)]);
    await letPass(10_000);
    expect([outcomes, resolver.askedSystem]).toEqual([['EAI_AGAIN'], ['local', 'local-slow']]);
    resolver.answer('local-slow');
    await letPass(0);
    expect(await resolver.resolve('local-new', GLOBEX)).toEqual(ADDRESSES); // no thread is no failure of the name
  });

  it('alternate with names of other organizations', async () => {
    outcomesOf(['local-slow', 'local-slow-2'].map((name) => resolver.resolve(name, ACME)));
    const outcomes = outcomesOf([resolver.resolve('local', GLOBEX), resolver.resolve('local-2', INITECH)]);
    await letPass(100);
    resolver.answer('local-slow');
    await letPass(0);
    resolver.answer('local-slow-2');
    await letPass(0);
    expect(outcomes).toEqual([ADDRESSES, ADDRESSES]);
  });

  it('are not resolved by the system while their organization has a slow lookup', async () => {
    outcomesOf([resolver.resolve('slow', ACME)]);
    await letPass(1_500);
    await expect(resolver.resolve('local', ACME)).rejects.toMatchObject(AGAIN);
    resolver.answer('slow');
    await letPass(0);
    expect(await resolver.resolve('local', ACME)).toEqual(ADDRESSES);
  });
});

it('shares one lookup among parallel requests for the same name', async () => {
  await Promise.all([resolver.resolve('known', ACME), resolver.resolve('known', ACME)]);
  expect(resolver.asked).toEqual(['known']);
  await resolver.resolve('known', ACME);
  expect(resolver.asked).toEqual(['known', 'known']);
});

it('resolves localhost without a query', async () => {
  const addresses = await resolver.resolve('localhost', ACME);
  expect(addresses).toContainEqual({ address: '127.0.0.1', family: 4 });
  expect([resolver.asked, resolver.askedSystem]).toEqual([[], []]);
});

it('handles many parallel lookups: no organization has two slow ones', async () => {
  let slow = 0;
  let most = 0;
  class Counting extends TestResolver {
    protected override async query(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
      const timer = setTimeout(() => (most = Math.max(most, ++slow)), 1_001);
      signal.addEventListener('abort', () => clearTimeout(timer));
      return super.query(hostname, signal);
    }
  }
  const counting = new Counting();
  const resolving = Array.from({ length: 200 }, (_, i) => counting.resolve(`slow-${i}`, ACME));
  const outcomes = outcomesOf(resolving);
  await letPass(5_000);
  expect([most, new Set(outcomes)]).toEqual([1, new Set(['EAI_AGAIN'])]);
});
