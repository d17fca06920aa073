import type { LookupAddress } from 'node:dns';
import { HostResolver, turnsOf } from './host-resolver.js';

const ADDRESSES: LookupAddress[] = [{ address: '203.0.113.1', family: 4 }];

/** Answers for `slow` names when it is told to. */
class TestResolver extends HostResolver {
  readonly asked: string[] = [];
  protected override readonly turns = turnsOf(1);
  private readonly pending = new Map<string, () => void>();

  protected override look(hostname: string): Promise<LookupAddress[]> {
    this.asked.push(hostname);
    if (hostname.startsWith('missing')) return Promise.reject(new Error('ENOTFOUND'));
    if (!hostname.startsWith('slow')) return Promise.resolve(ADDRESSES);
    return new Promise((resolve) => this.pending.set(hostname, () => resolve(ADDRESSES)));
  }

  answer(hostname: string): void {
    this.pending.get(hostname)!();
  }
}

/** Lets everything that waits for nothing happen. */
const settle = () => new Promise(setImmediate);

let resolver: TestResolver;
beforeEach(() => (resolver = new TestResolver()));

it('asks for a name that was answered promptly while others keep it waiting', async () => {
  await resolver.resolve('known');
  const slow = resolver.resolve('slow-1');
  expect(await resolver.resolve('known')).toEqual(ADDRESSES);
  resolver.answer('slow-1');
  await slow;
});

it('asks for unknown names one after the other, and for all of them', async () => {
  const resolving = ['slow-1', 'missing', 'slow-2', 'new'].map((name) => resolver.resolve(name));
  const settled = Promise.allSettled(resolving);
  await settle();
  expect(resolver.asked).toEqual(['slow-1']);
  resolver.answer('slow-1');
  await expect(resolving[1]).rejects.toThrow('ENOTFOUND');
  await resolving[0];
  await settle();
  expect(resolver.asked).toEqual(['slow-1', 'missing', 'slow-2']);
  resolver.answer('slow-2');
  expect((await settled).map(({ status }) => status)).toEqual([
    ...['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  ]);
});

it('asks once for those who ask for the same name at a time', async () => {
  await Promise.all([resolver.resolve('known'), resolver.resolve('known')]);
  expect(resolver.asked).toEqual(['known']);
  await resolver.resolve('known');
  expect(resolver.asked).toEqual(['known', 'known']);
});

it('gives up a name whose turn does not come', async () => {
  const slow = resolver.resolve('slow-1');
  const giving = resolver.resolve('new');
  await expect(giving).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  expect(resolver.asked).toEqual(['slow-1']);
  resolver.answer('slow-1');
  await slow;
  expect(await resolver.resolve('new')).toEqual(ADDRESSES);
}, 10_000);
