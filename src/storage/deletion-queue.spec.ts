import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createDatabase } from '../../test/support/database.js';
import type { TestDatabase } from '../../test/support/database.js';
import { eventually } from '../../test/support/eventually.js';
import { inParallel } from '../../test/support/parallel.js';
import { dataSourceOptions } from '../database/connection/data-source.js';
import { DeletionQueue } from './deletion-queue.js';
import type { Jobs } from '../jobs/jobs.js';
import { Metrics } from '../metrics/metrics.js';
import { ObjectDeletion } from './object-deletion.entity.js';
import { ObjectStore } from './object-store.js';

const JOBS = { add: () => undefined } as unknown as Jobs;

/** Keeps objects in memory; fails or hangs on demand. */
class MemoryStore extends ObjectStore {
  readonly objects = new Map<string, Buffer>();
  readonly deletions: string[] = [];
  readonly undeletable = new Set<string>();
  state: 'working' | 'failing' | 'hanging' = 'working';
  /** Deletions wait for it. */
  gate: Promise<unknown> = Promise.resolve();

  protected override putObject(key: string, body: Buffer): Promise<void> {
    this.objects.set(key, body);
    return Promise.resolve();
  }

  protected override getObject(key: string): Promise<Buffer | undefined> {
    return Promise.resolve(this.objects.get(key));
  }

  protected override async deleteObject(key: string, signal: AbortSignal): Promise<void> {
    this.deletions.push(key);
    await this.gate;
    if (this.state === 'failing' || this.undeletable.has(key)) throw new Error('failing');
    if (this.state === 'hanging') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    this.objects.delete(key);
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  protected override async *listObjects(): AsyncIterable<string> {
    yield* this.objects.keys();
  }

  protected override checkStore = () => Promise.resolve();
  protected override prepareStore = () => Promise.resolve();
}

const body = Buffer.from('body');
const LONG_MS = 60_000;
/** Deletions that one sweep runs at once. */
const CONCURRENCY = 8;
const SEQUENCE = 'documents_id_seq';

let database: TestDatabase;
let dataSource: DataSource;
let store: MemoryStore;
let queue: DeletionQueue;

beforeAll(async () => {
  Logger.overrideLogger(false);
  database = await createDatabase();
  const options = { ...dataSourceOptions(database.url), entities: [ObjectDeletion] };
  dataSource = await new DataSource(options).initialize();
  await database.query('CREATE TABLE wanted (key text)');
});
beforeEach(async () => {
  await database.query('TRUNCATE object_deletions, wanted');
  store = new MemoryStore(LONG_MS);
  queue = newQueue();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const newQueue = () =>
  new DeletionQueue(dataSource.getRepository(ObjectDeletion), store, new Metrics(), JOBS);
const noted = async () =>
  (await database.query<{ key: string }>('SELECT key FROM object_deletions')).map(({ key }) => key);
const letTimePass = () => database.query(`UPDATE object_deletions SET due_at = now() - interval '1 second'`);
const note = (keys: string[]) => queue.note(keys, dataSource.manager);

async function reserve(): Promise<string> {
  const key = `documents/${await queue.reserve('documents/', SEQUENCE)}`;
  await store.put(key, body);
  return key;
}

/** Makes a row that points to the object, as whoever has reserved its key does. */
function keep(key: string): Promise<void> {
  return dataSource.transaction(async (transaction) => {
    await transaction.query('INSERT INTO wanted (key) VALUES ($1)', [key]);
    await queue.keep(key, transaction);
  });
}

/** Puts objects there that nothing points to. */
async function storeSuperfluous(count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, i) => `documents/${i}`);
  for (const key of keys) await store.put(key, body);
  return keys;
}

async function minutesUntilDue(key: string): Promise<number> {
  const [row] = await database.query<{ minutes: number }>(
    'SELECT extract(epoch FROM due_at - now())::float / 60 AS minutes FROM object_deletions WHERE key = $1',
    [key],
  );
  return row!.minutes;
}

describe('a reservation', () => {
  it('has a unique id under concurrency', async () => {
    const keys = await inParallel(20, reserve);
    expect(new Set(keys).size).toBe(20);
    expect((await noted()).sort()).toEqual(keys.sort());
  });

  it('skips ids whose objects are still to be deleted', async () => {
    const id = Number((await reserve()).split('/')[1]);
    await note([`documents/${id + 1}`, `documents/${id + 2}`]);
    expect(await reserve()).toBe(`documents/${id + 3}`);
  });

  it('protects the object for one hour', async () => {
    const key = await reserve();
    expect(await queue.sweep()).toBe(0);
    expect(await minutesUntilDue(key)).toBeCloseTo(60, 0);
    await letTimePass();
    expect(await queue.sweep()).toBe(1);
    expect(store.objects.size).toBe(0);
    expect(await noted()).toEqual([]);
  });

  it('ends when the object is kept, and no sweep deletes the object', async () => {
    const key = await reserve();
    await keep(key);
    expect(await noted()).toEqual([]);
    await letTimePass();
    expect(await queue.sweep()).toBe(0);
    expect(store.objects.has(key)).toBe(true);
  });

  it('remains when the transaction that keeps the object fails', async () => {
    const key = await reserve();
    const failing = dataSource.transaction(async (transaction) => {
      await queue.keep(key, transaction);
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect(await noted()).toEqual([key]);
  });

  it('cannot be kept if it does not exist or has expired', async () => {
    await expect(keep('documents/1')).rejects.toThrow('expired');
    const key = await reserve();
    await letTimePass();
    store.state = 'failing';
    await queue.sweep(); // has taken it up, and not succeeded yet
    await expect(keep(key)).rejects.toThrow('expired');
    expect(await database.query('SELECT key FROM wanted')).toEqual([]);
  });

  it('is either kept or swept when both happen at once', async () => {
    const outcomes = { kept: 0, swept: 0 };
    for (let round = 0; Math.min(outcomes.kept, outcomes.swept) < 10; round++) {
      expect(round).toBeLessThan(1_000);
      const key = await reserve();
      await letTimePass();
      const sweep = () => newQueue().sweep();
      const creation = dataSource.transaction(async (transaction) => {
        await transaction.query('INSERT INTO wanted (key) VALUES ($1)', [key]);
        const racers = [() => queue.keep(key, transaction), sweep, sweep, sweep];
        await Promise.all((round % 2 ? racers.reverse() : racers).map((race) => race()));
      });
      await creation.catch((error: Error) => expect(error.message).toContain('expired'));
      const rows = await database.query('SELECT key FROM wanted WHERE key = $1', [key]);
      await eventually(async () => expect(await noted()).toEqual([]));
      expect(store.objects.has(key)).toBe(rows.length === 1);
      outcomes[rows.length === 1 ? 'kept' : 'swept']++;
    }
  });
});

describe('a sweep', () => {
  it('deletes all objects that are due, and no others', async () => {
    const keys = await storeSuperfluous(250);
    await note(keys.slice(0, 240));
    expect(await queue.sweep()).toBe(240);
    expect([...store.objects.keys()]).toEqual(keys.slice(240));
    expect(await noted()).toEqual([]);
  });

  it('shares the work with concurrent sweeps', async () => {
    await note(await storeSuperfluous(300));
    await inParallel(3, () => dataSource.query('SELECT 1')); // connections for all of them
    // Until a second sweep has taken its share, the first one takes no more.
    store.gate = eventually(() => expect(store.deletions.length).toBeGreaterThan(CONCURRENCY));
    const counts = await Promise.all([queue.sweep(), newQueue().sweep(), newQueue().sweep()]);
    expect(counts.reduce((a, b) => a + b)).toBe(300);
    expect(store.deletions).toHaveLength(300);
    expect(counts.filter((count) => count > 0).length).toBeGreaterThan(1);
    expect(store.objects.size).toBe(0);
    expect(await noted()).toEqual([]);
  });

  it('counts an object that is absent as deleted', async () => {
    await note(['documents/1']);
    expect(await queue.sweep()).toBe(1);
    expect(await noted()).toEqual([]);
  });

  it('retries without limit, after a time that doubles up to one hour', async () => {
    const [key] = await storeSuperfluous(1);
    await note([key!]);
    store.state = 'failing';
    const delays: number[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      expect(await queue.sweep()).toBe(0);
      delays.push(Math.round(await minutesUntilDue(key!)));
      await letTimePass();
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    await database.query('UPDATE object_deletions SET attempts = 100000');
    await queue.sweep();
    expect(await minutesUntilDue(key!)).toBeCloseTo(60, 0);
    expect(await queue.sweep()).toBe(0); // not before its time

    await letTimePass();
    store.state = 'working';
    expect(await queue.sweep()).toBe(1);
    expect(await noted()).toEqual([]);
  });

  it('continues after one or several objects that cannot be deleted', async () => {
    const keys = await storeSuperfluous(250);
    await note(keys);
    store.undeletable.add('documents/7');
    expect(await queue.sweep()).toBe(249);
    expect(await noted()).toEqual(['documents/7']);
    expect(await minutesUntilDue('documents/7')).toBeCloseTo(1, 0);

    await note(await storeSuperfluous(50));
    for (const key of keys.slice(10, 30)) store.undeletable.add(key);
    await eventually(async () => {
      await queue.sweep();
      expect((await noted()).sort()).toEqual([...store.undeletable].sort());
    });
  });

  it('ends after a few failures of a store that is away, and does not postpone the other objects', async () => {
    await note(await storeSuperfluous(250));
    store.state = 'failing';
    for (let sweeps = 1; sweeps <= 3; sweeps++) {
      expect(await queue.sweep()).toBe(0);
      expect(store.deletions).toHaveLength(CONCURRENCY * sweeps);
    }
    store.state = 'working';
    expect(await queue.sweep()).toBe(250 - 24);
    await letTimePass();
    expect(await queue.sweep()).toBe(24);
  });

  it('ends a reservation for good when it takes the object, even if it gives the object back', async () => {
    const keys = await inParallel(20, reserve);
    await letTimePass();
    store.state = 'failing';
    await queue.sweep();
    for (const key of keys) await expect(keep(key)).rejects.toThrow('expired');
  });

  it('deletes an unsettled object a second time after one hour', async () => {
    const [key] = await storeSuperfluous(1);
    await queue.noteSelected('SELECT $1 AS key, true AS unsettled', [key], dataSource.manager);
    await queue.removePromptly([key!]);
    expect(store.objects.size).toBe(0);
    expect(await queue.sweep()).toBe(0);
    expect(await minutesUntilDue(key!)).toBeCloseTo(60, 0);

    await store.put(key!, body);
    await letTimePass();
    expect(await queue.sweep()).toBe(1);
    expect(store.objects.size).toBe(0);
    expect(await noted()).toEqual([]);
  });
});

describe('a prompt removal', () => {
  it('deletes the objects and their notes', async () => {
    const keys = await storeSuperfluous(3);
    await note(keys);
    expect(await queue.removePromptly(keys)).toBe(true);
    expect(store.objects.size).toBe(0);
    expect(await noted()).toEqual([]);
  });

  it('waits at most one second for a store that hangs, and leaves the rest to the sweep', async () => {
    const keys = await storeSuperfluous(3);
    await note(keys);
    store.state = 'hanging';
    const start = performance.now();
    await queue.removePromptly(keys);
    expect(performance.now() - start).toBeGreaterThan(900);
    expect(performance.now() - start).toBeLessThan(LONG_MS / 2); // a call to the store may take LONG_MS
    expect(await noted()).toHaveLength(3);

    store.state = 'working';
    expect(await queue.sweep()).toBe(3);
  });

  it.each(['failing', 'hanging'] as const)('does not throw if the store is %s', async (state) => {
    store.state = state;
    await note(['documents/1']);
    expect(await queue.removePromptly(['documents/1'])).toBe(false);
    expect(await noted()).toEqual(['documents/1']);
  });

  it('logs the error of the store', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    store.state = 'failing';
    await queue.removePromptly(['documents/1']);
    expect(warn).toHaveBeenCalledWith(
      { reason: 'object storage: delete documents/1 failed: failing' },
      expect.anything(),
    );
    warn.mockRestore();
  });

  it('deletes a limited number of objects', async () => {
    const keys = await storeSuperfluous(150);
    await note(keys);
    await queue.removePromptly(keys);
    expect(store.objects.size).toBe(50);
    expect(await queue.sweep()).toBe(50);
  });

  it('accepts an object that is noted twice', async () => {
    await note(['documents/1']);
    await note(['documents/1']);
    expect(await noted()).toEqual(['documents/1']);
  });
});
