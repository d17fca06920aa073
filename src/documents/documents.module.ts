import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { AbandonedUpdates } from './update/abandoned-updates.js';
import { DocumentBodies } from './store/document-bodies.js';
import { DocumentCheck } from './check/document-check.js';
import { DocumentLock } from './update/document-lock.js';
import { DocumentRecovery } from './update/document-recovery.js';
import { DocumentUpdate } from './update/document-update.entity.js';
import { DocumentUpdater } from './update/document-updater.js';
import { Document } from './store/document.entity.js';
import { ExportController } from './export.controller.js';
import { ProjectExport } from './project-export.js';
import { DocumentsController } from './documents.controller.js';
import { DocumentsService } from './documents.service.js';
import { ObjectCheck } from './check/object-check.js';
import { StoreOwner } from './store/store-owner.js';

@Module({
  imports: [OrganizationsModule, ProjectsModule, TypeOrmModule.forFeature([Document, DocumentUpdate])],
  controllers: [DocumentsController, ExportController],
  providers: [
    DocumentsService,
    ProjectExport,
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
