import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { AuditEvent } from './audit/audit-event.entity.js';
import { AuditTrail } from './audit/audit-trail.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { Membership } from './model/membership.entity.js';
import { OrganizationSlug } from './model/organization-slug.entity.js';
import { Organization } from './model/organization.entity.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsService } from './organizations.service.js';
import { OwnerScopeGuard } from './scope/owner-scope.guard.js';
import { ScopesService } from './scope/scopes.service.js';

/** Personal organizations and teams, their members and audit trail, and the scope of every owned route. */
@Module({
  imports: [AuthModule, TypeOrmModule.forFeature([Organization, OrganizationSlug, Membership, AuditEvent])],
  controllers: [OrganizationsController, MembersController],
  providers: [ScopesService, OwnerScopeGuard, OrganizationsService, MembersService, AuditTrail],
  exports: [OwnerScopeGuard, OrganizationsService, MembersService, AuditTrail, ScopesService],
})
export class OrganizationsModule {}
