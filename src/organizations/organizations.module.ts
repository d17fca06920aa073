import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { Membership } from './membership.entity.js';
import { MembershipsService } from './memberships.service.js';
import { Organization } from './organization.entity.js';
import { OwnerScopeGuard } from './owner-scope.guard.js';

/** Owners: personal and team organizations, their members, and the scope that every owned route acts in. */
@Module({
  imports: [AuthModule, TypeOrmModule.forFeature([Organization, Membership])],
  providers: [MembershipsService, OwnerScopeGuard],
  exports: [MembershipsService, OwnerScopeGuard],
})
export class OrganizationsModule {}
