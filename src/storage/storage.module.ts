import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';
import { DeletionQueue } from './deletion-queue.js';
import { DeletionSweep } from './deletion-sweep.js';
import { FileObjectStore } from './file.object-store.js';
import { ObjectDeletion } from './object-deletion.entity.js';
import { ObjectStore } from './object-store.js';
import { patiently, storeSetting } from './patiently.js';
import { StorageGate } from './storage-gate.js';

/** Object storage: the one of the two stores that the settings choose, and what sees to it that it stays clean. */
@Module({
  imports: [TypeOrmModule.forFeature([ObjectDeletion])],
  providers: [
    {
      provide: ObjectStore,
      inject: [Settings, Metrics],
      useFactory: async (settings: Settings, metrics: Metrics): Promise<ObjectStore> => {
        const store = await chooseStore(settings);
        store.observe((...call) => metrics.dependencies.storageCalled(...call));
        await patiently(settings, () => store.prepare());
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
  try {
    const store = await chooseStore(settings);
    await store.check();
  } catch (error) {
    throw new Error(storeSetting(settings), { cause: error });
  }
}

/** The client of S3 is loaded where it is needed: it is a quarter of all that a start loads. */
async function chooseStore({ minio, dataDir }: Settings): Promise<ObjectStore> {
  if (!minio) return new FileObjectStore(join(dataDir, 'objects'));
  const { MinioObjectStore } = await import('./minio.object-store.js');
  return new MinioObjectStore(minio);
}
