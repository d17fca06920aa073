import { Controller, Delete, Get, Headers, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { JsonBody } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import { PAGE_QUERY, PAGE_REFUSALS } from '../common/paging.js';
import { PageQuery } from '../common/paging.js';
import type { PageRequest } from '../common/paging.js';
import { AuditTrail } from './audit-trail.js';
import { AuditPageResponse } from './dto/audit.response.js';
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
} from './organizations.errors.js';
import { OrganizationsService } from './organizations.service.js';
import { AdminOnly, Scope } from './owner-scope.js';
import type { OwnerScope } from './owner-scope.js';

const DELETION =
  'Its projects, documents and upstreams go, and the keys of all members are revoked. Recorded usage is kept. ' +
  'The slug stays reserved for whoever deleted it.';
const CONFIRMATION = {
  'X-Confirm-Slug': { type: 'string', description: 'When sent, it must be exactly the slug.' },
};

@ApiTags('Organizations')
@Controller('me/organizations')
export class OrganizationsController {
  constructor(
    private readonly organizations: OrganizationsService,
    private readonly audit: AuditTrail,
  ) {}

  @Operation('listOrganizations', 'List organizations', {
    description: 'The personal one included.',
    answers: OrganizationListResponse,
  })
  @Get()
  async list(@CurrentUser() user: SessionUser): Promise<OrganizationListResponse> {
    return { organizations: await this.organizations.list(user) };
  }

  @Operation('createOrganization', 'Create an organization', {
    description: 'The caller is its admin.',
    answers: OrganizationResponse,
    refuses: [OrganizationSlugTaken],
  })
  @Post()
  create(
    @CurrentUser() user: SessionUser,
    @JsonBody() body: CreateOrganizationDto,
  ): Promise<OrganizationResponse> {
    return this.organizations.create(user, body);
  }

  @Operation('getOrganization', 'Get an organization', { answers: OrganizationResponse })
  @Get(':organizationId')
  get(@Scope() scope: OwnerScope): Promise<OrganizationResponse> {
    return this.organizations.get(scope.user, scope.organizationId);
  }

  @Operation('renameOrganization', 'Rename an organization', {
    answers: OrganizationResponse,
    refuses: [SlugCannotChange, new PersonalOrganization('renamed')],
  })
  @AdminOnly('rename the organization')
  @Put(':organizationId')
  rename(@Scope() scope: OwnerScope, @JsonBody() body: UpdateOrganizationDto): Promise<OrganizationResponse> {
    return this.organizations.rename(scope, body);
  }

  @Operation('deleteOrganization', 'Delete an organization', {
    description: DELETION,
    answers: OrganizationDeletedResponse,
    refuses: [new PersonalOrganization('deleted'), SlugMismatch],
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
    answers: AuditPageResponse,
    query: PAGE_QUERY,
    refuses: PAGE_REFUSALS,
  })
  @AdminOnly('read the audit trail')
  @Get(':organizationId/audit')
  async auditTrail(@Scope() scope: OwnerScope, @PageQuery() page: PageRequest): Promise<AuditPageResponse> {
    return AuditPageResponse.from(await this.audit.page(scope, page));
  }
}
