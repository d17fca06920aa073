import { join } from 'node:path';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';
import { DeletionQueue } from './deletion-queue.js';
import { FileObjectStore } from './file.object-store.js';
import { ObjectDeletion } from './object-deletion.entity.js';
import { ObjectStore } from './object-store.js';
import { retryUntilAvailable, storeSetting } from './retry-until-available.js';
import { StorageSemaphore } from './storage-semaphore.js';

/** Object storage: the store that the settings choose, the semaphore in front of it, and the deletion queue. */
@Module({})
export class StorageModule {
  /** @param timeoutMs maximum duration of a call */
  static with(timeoutMs?: number): DynamicModule {
    return {
      module: StorageModule,
      global: true,
      imports: [TypeOrmModule.forFeature([ObjectDeletion])],
      providers: [
        {
          provide: ObjectStore,
          inject: [Settings, Metrics],
          useFactory: async (settings: Settings, metrics: Metrics): Promise<ObjectStore> => {
            const store = await chooseStore(settings, timeoutMs);
            store.observe((...call) => metrics.dependencies.storageCalled(...call));
            await retryUntilAvailable(settings, () => store.prepare());
            return store;
          },
        },
        {
          provide: StorageSemaphore,
          inject: [Settings, Metrics],
          useFactory: ({ databasePoolSize }: Settings, metrics: Metrics) => {
            const semaphore = new StorageSemaphore(Math.floor(databasePoolSize / 2), timeoutMs);
            metrics.gauge(
              'mintkeep_storage_waiting_requests',
              'Requests that wait for access to object storage',
              () => semaphore.queueLength,
            );
            return semaphore;
          },
        },
        DeletionQueue,
      ],
      exports: [ObjectStore, StorageSemaphore, DeletionQueue],
    };
  }
}

/**
 * Checks that the store exists. For commands that must not create an empty store, as the module does.
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

/** Loads the S3 client on demand, because it takes a quarter of the time to load all modules. */
async function chooseStore({ minio, dataDir }: Settings, timeoutMs?: number): Promise<ObjectStore> {
  if (!minio) return new FileObjectStore(join(dataDir, 'objects'), timeoutMs);
  const { MinioObjectStore } = await import('./minio.object-store.js');
  return new MinioObjectStore(minio, timeoutMs);
}
