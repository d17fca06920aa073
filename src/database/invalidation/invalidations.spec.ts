import type { DataSource, EntityManager } from 'typeorm';
import { Invalidations, LEASE_MS } from './invalidations.js';
import type { Transactions } from '../transactions/transactions.js';

/** Publishes an invalidation and returns the task after the commit. `listReplicas` replaces the query for replicas. */
async function changed(listReplicas: () => Promise<{ id: string }[]>): Promise<() => Promise<void>> {
  let committed = () => Promise.resolve();
  const transactions = {
    afterCommit: (_: EntityManager, task: () => Promise<void>) => (committed = task),
  } as unknown as Transactions;
  const invalidations = new Invalidations({ query: listReplicas } as unknown as DataSource, transactions);
  const transaction = { query: () => Promise.resolve() } as unknown as EntityManager;
  await invalidations.publish({ topic: 'something' }, transaction);
  return committed;
}

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('a change', () => {
  it.each<[string, () => Promise<{ id: string }[]>]>([
    ['the list of replicas cannot be read', () => Promise.reject(new Error('gone'))],
    ['a replica does not acknowledge', () => Promise.resolve([{ id: 'dead' }])],
    [
      'the query for replicas fails after the end of the leases',
      () => later(LEASE_MS + 100).then(() => Promise.reject(new Error('gone'))),
    ],
    [
      'the query for replicas succeeds after the end of the leases',
      () => later(LEASE_MS + 100).then(() => [{ id: 'dead' }]),
    ],
  ])('waits until all leases have ended if %s', async (_, listReplicas) => {
    const committed = await changed(listReplicas);
    const beganAt = performance.now();
    await committed();
    expect(performance.now() - beganAt).toBeGreaterThan(LEASE_MS - 50);
  });
});
