import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings.js';
import { POOL_SIZE } from '../database/data-source.js';
import { DeletionQueue } from './deletion-queue.js';
import { DeletionSweep } from './deletion-sweep.js';
import { FileObjectStore } from './file.object-store.js';
import { MinioObjectStore } from './minio.object-store.js';
import { ObjectDeletion } from './object-deletion.entity.js';
import { ObjectStore } from './object-store.js';
import { StorageGate } from './storage-gate.js';

/** Object storage: the one of the two stores that the settings choose, and what sees to it that it stays clean. */
@Module({
  imports: [TypeOrmModule.forFeature([ObjectDeletion])],
  providers: [
    {
      provide: ObjectStore,
      inject: [Settings],
      useFactory: async ({ minio, dataDir }: Settings): Promise<ObjectStore> => {
        const store = minio ? new MinioObjectStore(minio) : new FileObjectStore(join(dataDir, 'objects'));
        await store.prepare();
        return store;
      },
    },
    { provide: StorageGate, useFactory: () => new StorageGate(Math.floor(POOL_SIZE / 2)) },
    DeletionQueue,
    DeletionSweep,
  ],
  exports: [ObjectStore, StorageGate, DeletionQueue],
})
export class StorageModule {}
