import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { AbandonedUpdates } from './abandoned-updates.js';
import { DocumentBodies } from './document-bodies.js';
import { DocumentCheck } from './document-check.js';
import { DocumentLock } from './document-lock.js';
import { DocumentRecovery } from './document-recovery.js';
import { DocumentUpdate } from './document-update.entity.js';
import { DocumentUpdater } from './document-updater.js';
import { Document } from './document.entity.js';
import { DocumentsController } from './documents.controller.js';
import { DocumentsService } from './documents.service.js';
import { ObjectCheck } from './object-check.js';
import { StoreOwner } from './store-owner.js';

@Module({
  imports: [
    OrganizationsModule,
    ProjectsModule,
    StorageModule,
    TypeOrmModule.forFeature([Document, DocumentUpdate]),
  ],
  controllers: [DocumentsController],
  providers: [
    DocumentsService,
    DocumentUpdater,
    DocumentRecovery,
    DocumentLock,
    DocumentBodies,
    AbandonedUpdates,
    DocumentCheck,
    ObjectCheck,
    StoreOwner,
  ],
})
export class DocumentsModule {}
