import { Controller, Delete, Get, Headers, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { PAGE_QUERY, PAGE_REJECTIONS } from '../common/api/paging.js';
import { PageQuery } from '../common/api/paging.js';
import type { PageRequest } from '../common/api/paging.js';
import { AuditTrail } from './audit/audit-trail.js';
import { AuditPageResponse } from './audit/audit.response.js';
import { CreateOrganizationDto, UpdateOrganizationDto } from './dto/organization.requests.js';
import {
  OrganizationDeletedResponse,
  OrganizationListResponse,
  OrganizationResponse,
} from './dto/organization.response.js';
import {
  OrganizationSlugTaken,
  PersonalOrganization,
  SlugCannotChange,
  SlugMismatch,
  TooManyOrganizations,
} from './model/organizations.errors.js';
import { OrganizationsService } from './organizations.service.js';
import { AdminOnly, Scope } from './scope/owner-scope.js';
import type { OwnerScope } from './scope/owner-scope.js';

const DELETION =
  'Deletes its projects, documents and upstreams, and revokes the keys of all members. Recorded usage is kept. ' +
  'The slug stays reserved for the user who deleted the organization.';
const CONFIRMATION = {
  'X-Confirm-Slug': { type: 'string', description: 'If present, it must be the slug of the organization.' },
};

@ApiTags('Organizations')
@Controller('me/organizations')
export class OrganizationsController {
  constructor(
    private readonly organizations: OrganizationsService,
    private readonly audit: AuditTrail,
  ) {}

  @Operation('listOrganizations', 'List organizations', {
    description: 'Includes the personal organization.',
    response: OrganizationListResponse,
  })
  @Get()
  async list(@CurrentUser() user: SessionUser): Promise<OrganizationListResponse> {
    return { organizations: await this.organizations.list(user) };
  }

  @Operation('createOrganization', 'Create an organization', {
    description: 'The caller becomes its admin.',
    response: OrganizationResponse,
    rejects: [OrganizationSlugTaken, TooManyOrganizations],
  })
  @Post()
  create(
    @CurrentUser() user: SessionUser,
    @JsonBody() body: CreateOrganizationDto,
  ): Promise<OrganizationResponse> {
    return this.organizations.create(user, body);
  }

  @Operation('getOrganization', 'Get an organization', {
    description: 'Available to every member, with the role of the caller.',
    response: OrganizationResponse,
  })
  @Get(':organizationId')
  get(@Scope() scope: OwnerScope): Promise<OrganizationResponse> {
    return this.organizations.get(scope.user, scope.organizationId);
  }

  @Operation('renameOrganization', 'Rename an organization', {
    description: 'Changes the name only. The slug cannot change.',
    response: OrganizationResponse,
    rejects: [SlugCannotChange, new PersonalOrganization('renamed')],
  })
  @AdminOnly('rename the organization')
  @Put(':organizationId')
  rename(@Scope() scope: OwnerScope, @JsonBody() body: UpdateOrganizationDto): Promise<OrganizationResponse> {
    return this.organizations.rename(scope, body);
  }

  @Operation('deleteOrganization', 'Delete an organization', {
    description: DELETION,
    response: OrganizationDeletedResponse,
    rejects: [new PersonalOrganization('deleted'), SlugMismatch],
    headers: CONFIRMATION,
  })
  @AdminOnly('delete the organization')
  @Delete(':organizationId')
  async delete(
    @Scope() scope: OwnerScope,
    @Headers('x-confirm-slug') confirmation: string | undefined,
  ): Promise<OrganizationDeletedResponse> {
    return { status: 'deleted', revoked_keys: await this.organizations.delete(scope, confirmation) };
  }

  @Operation('listAuditEvents', 'Read the audit trail', {
    description: 'Newest first. For admins.',
    response: AuditPageResponse,
    query: PAGE_QUERY,
    rejects: PAGE_REJECTIONS,
  })
  @AdminOnly('read the audit trail')
  @Get(':organizationId/audit')
  async auditTrail(@Scope() scope: OwnerScope, @PageQuery() page: PageRequest): Promise<AuditPageResponse> {
    return AuditPageResponse.from(await this.audit.page(scope, page));
  }
}
