import type { DataSource, EntityManager } from 'typeorm';
import { Invalidations, LEASE_MS } from './invalidations.js';
import type { Transactions } from './transactions.js';

/** What runs behind the commit of a change, where asking for the replicas does what it is told. */
async function changed(askReplicas: () => Promise<{ id: string }[]>): Promise<() => Promise<void>> {
  let committed = () => Promise.resolve();
  const transactions = {
    afterCommit: (_: EntityManager, task: () => Promise<void>) => (committed = task),
  } as unknown as Transactions;
  const invalidations = new Invalidations({ query: askReplicas } as unknown as DataSource, transactions);
  const transaction = { query: () => Promise.resolve() } as unknown as EntityManager;
  await invalidations.publish({ topic: 'something' }, transaction);
  return committed;
}

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('who makes a change waits no longer than for all leases', () => {
  it.each<[string, () => Promise<{ id: string }[]>]>([
    ['the replicas cannot be asked', () => Promise.reject(new Error('gone'))],
    ['a replica does not answer', () => Promise.resolve([{ id: 'dead' }])],
    [
      'it takes longer than that to learn that they cannot be asked',
      () => later(LEASE_MS + 100).then(() => Promise.reject(new Error('gone'))),
    ],
    [
      'it takes longer than that to learn who they are',
      () => later(LEASE_MS + 100).then(() => [{ id: 'dead' }]),
    ],
  ])('where %s', async (_, askReplicas) => {
    const committed = await changed(askReplicas);
    const beganAt = performance.now();
    await committed();
    expect(performance.now() - beganAt).toBeGreaterThan(LEASE_MS - 50);
  });
});
