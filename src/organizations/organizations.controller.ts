import { Controller, Delete, Get, Headers, Post, Put } from '@nestjs/common';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { JsonBody } from '../common/json-body.js';
import { PageQuery } from '../common/paging.js';
import type { Page } from '../common/paging.js';
import { AuditTrail } from './audit-trail.js';
import { AuditPageResponse } from './dto/audit.response.js';
import { CreateOrganizationDto, UpdateOrganizationDto } from './dto/organization.requests.js';
import {
  OrganizationDeletedResponse,
  OrganizationListResponse,
  OrganizationResponse,
} from './dto/organization.response.js';
import { OrganizationsService } from './organizations.service.js';
import { AdminOnly, Scope } from './owner-scope.js';
import type { OwnerScope } from './owner-scope.js';

@Controller('me/organizations')
export class OrganizationsController {
  constructor(
    private readonly organizations: OrganizationsService,
    private readonly audit: AuditTrail,
  ) {}

  @Get()
  async list(@CurrentUser() user: SessionUser): Promise<OrganizationListResponse> {
    return { organizations: await this.organizations.list(user) };
  }

  @Post()
  create(
    @CurrentUser() user: SessionUser,
    @JsonBody() body: CreateOrganizationDto,
  ): Promise<OrganizationResponse> {
    return this.organizations.create(user, body);
  }

  @Get(':organizationId')
  get(@Scope() scope: OwnerScope): Promise<OrganizationResponse> {
    return this.organizations.get(scope.user, scope.organizationId);
  }

  @AdminOnly('rename the organization')
  @Put(':organizationId')
  rename(@Scope() scope: OwnerScope, @JsonBody() body: UpdateOrganizationDto): Promise<OrganizationResponse> {
    return this.organizations.rename(scope, body);
  }

  @AdminOnly('delete the organization')
  @Delete(':organizationId')
  async delete(
    @Scope() scope: OwnerScope,
    @Headers('x-confirm-slug') confirmation: string | undefined,
  ): Promise<OrganizationDeletedResponse> {
    return { status: 'deleted', revoked_keys: await this.organizations.delete(scope, confirmation) };
  }

  @AdminOnly('read the audit trail')
  @Get(':organizationId/audit')
  async auditTrail(@Scope() scope: OwnerScope, @PageQuery() page: Page): Promise<AuditPageResponse> {
    return AuditPageResponse.from(await this.audit.page(scope, page));
  }
}
