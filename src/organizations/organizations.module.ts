import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { AuditEvent } from './audit-event.entity.js';
import { AuditTrail } from './audit-trail.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { Membership } from './membership.entity.js';
import { OrganizationSlug } from './organization-slug.entity.js';
import { Organization } from './organization.entity.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsService } from './organizations.service.js';
import { OwnerScopeGuard } from './owner-scope.guard.js';
import { ScopesService } from './scopes.service.js';

/** Owners: personal and team organizations, their members, and the scope that every owned route acts in. */
@Module({
  imports: [AuthModule, TypeOrmModule.forFeature([Organization, OrganizationSlug, Membership, AuditEvent])],
  controllers: [OrganizationsController, MembersController],
  providers: [ScopesService, OwnerScopeGuard, OrganizationsService, MembersService, AuditTrail],
  exports: [OwnerScopeGuard, OrganizationsService, MembersService, AuditTrail, ScopesService],
})
export class OrganizationsModule {}
