import { randomUUID } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { createDatabase } from '../../../test/support/database.js';
import type { TestDatabase } from '../../../test/support/database.js';
import { eventually } from '../../../test/support/eventually.js';
import { dataSourceOptions } from '../connection/data-source.js';
import { ReplicaListener } from './replica-listener.js';

const ACKNOWLEDGEMENTS = 1_000;
const REPLICA = randomUUID();
const ignore = () => undefined;

describe('ReplicaListener', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let listener: ReplicaListener;
  const acknowledged = new Set<string>();

  beforeAll(async () => {
    database = await createDatabase();
    dataSource = new DataSource(dataSourceOptions(database.url));
    listener = new ReplicaListener(dataSource, REPLICA, 1, {
      onConnected: ignore,
      onHeartbeat: ignore,
      onInvalidation: ignore,
      onAcknowledgement: (id, replica) => replica === REPLICA && acknowledged.add(id),
    });
    await listener.start();
  });
  afterAll(async () => {
    await listener.stop();
    await database.drop();
  });

  it('acknowledges every invalidation, with at most one queued statement', async () => {
    const statements = countStatements();
    try {
      for (let i = 0; i < ACKNOWLEDGEMENTS; i++) {
        listener.acknowledge(`id-${i}`);
        if (i % 2 === 0) await nextTick();
      }
      await eventually(() => expect(acknowledged.size).toBe(ACKNOWLEDGEMENTS));
      expect(statements.most()).toBeLessThanOrEqual(2);
    } finally {
      statements.restore();
    }
  });
});

it('closes its connection if it cannot listen', async () => {
  const database = await createDatabase();
  await database.query('ALTER TABLE replicas RENAME TO not_there');
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(ignore);
  const listener = new ReplicaListener(new DataSource(dataSourceOptions(database.url)), REPLICA, 1, {
    onConnected: ignore,
    onHeartbeat: ignore,
    onInvalidation: ignore,
    onAcknowledgement: ignore,
  });
  try {
    await listener.start();
    await eventually(() => expect(warn.mock.calls.length).toBeGreaterThanOrEqual(4));
    const open = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'mintkeep-replica'`;
    await eventually(async () => expect((await database.query(open)).length).toBeLessThanOrEqual(1));
  } finally {
    await listener.stop();
    jest.restoreAllMocks();
    await database.drop();
  }
});

/** Counts the concurrent statements of all clients. */
function countStatements() {
  const query = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
  let [now, most] = [0, 0];
  const counted = function (this: pg.Client, ...args: unknown[]) {
    most = Math.max(most, ++now);
    return query.apply(this, args).finally(() => now--);
  };
  Object.assign(pg.Client.prototype, { query: counted });
  return { most: () => most, restore: () => Object.assign(pg.Client.prototype, { query }) };
}
