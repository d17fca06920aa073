import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';
import { DeletionQueue } from './deletion-queue.js';
import { DeletionSweep } from './deletion-sweep.js';
import { FileObjectStore } from './file.object-store.js';
import { MinioObjectStore } from './minio.object-store.js';
import { ObjectDeletion } from './object-deletion.entity.js';
import { ObjectStore } from './object-store.js';
import { StorageGate } from './storage-gate.js';

/** For object storage that is started at the same time, or does not answer for a moment. */
const PATIENCE_MS = 10_000;
const RETRY_INTERVAL_MS = 500;

/** Object storage: the one of the two stores that the settings choose, and what sees to it that it stays clean. */
@Module({
  imports: [TypeOrmModule.forFeature([ObjectDeletion])],
  providers: [
    {
      provide: ObjectStore,
      inject: [Settings, Metrics],
      useFactory: async (settings: Settings, metrics: Metrics): Promise<ObjectStore> => {
        const { store, setting } = chooseStore(settings);
        store.observe((...call) => metrics.dependencies.storageCalled(...call));
        await prepare(store, setting);
        return store;
      },
    },
    {
      provide: StorageGate,
      inject: [Settings, Metrics],
      useFactory: ({ databasePoolSize }: Settings, metrics: Metrics) => {
        const gate = new StorageGate(Math.floor(databasePoolSize / 2));
        metrics.gauge(
          'mintkeep_storage_waiting_requests',
          'Requests that wait for others to be done with object storage',
          () => gate.queueLength,
        );
        return gate;
      },
    },
    DeletionQueue,
    DeletionSweep,
  ],
  exports: [ObjectStore, StorageGate, DeletionQueue],
})
export class StorageModule {}

/**
 * For whoever is not to be given an empty store, which this module makes where there is none.
 * @throws Error that names the setting
 */
export async function assertStoreExists(settings: Settings): Promise<void> {
  const { store, setting } = chooseStore(settings);
  try {
    await store.check();
  } catch (error) {
    throw new Error(setting, { cause: error });
  }
}

/** The store, and the setting that says where it is. */
function chooseStore({ minio, dataDir }: Settings): { store: ObjectStore; setting: string } {
  return minio
    ? { store: new MinioObjectStore(minio), setting: 'MINIO_ENDPOINT' }
    : { store: new FileObjectStore(join(dataDir, 'objects')), setting: 'DATA_DIR' };
}

/** @param setting that says where the store is */
async function prepare(store: ObjectStore, setting: string): Promise<void> {
  const patienceEndsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      await store.prepare();
      return;
    } catch (error) {
      if (performance.now() > patienceEndsAt) throw new Error(setting, { cause: error });
    }
    await pause(RETRY_INTERVAL_MS);
  }
}
