import { Controller, Get, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NotFound } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { AdminsOnly } from '../organizations/model/organizations.errors.js';
import { AdminOnly, OwnedController, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { LimitsResponse, ReplaceLimitsDto, OrganizationLimitsResponse } from './dto/limits.dto.js';
import { NO_LIMITS } from './rules/limit-set.js';
import { LimitsService } from './limits.service.js';

/** Limits of an owner and of each of its members. */
@ApiTags('Limits')
@OwnedController('limits')
export class LimitsController {
  constructor(private readonly limits: LimitsService) {}

  @Operation('getLimits', 'Get the limits', {
    description: 'Returns the limits of the organization, those of each member, and the consumption.',
    response: OrganizationLimitsResponse,
  })
  @Get()
  get(@Scope() scope: OwnerScope): Promise<OrganizationLimitsResponse> {
    return this.limits.get(scope);
  }

  @Operation('putLimits', 'Replace the limits', {
    description: 'Replaces both sets. A limit that is absent does not apply any more.',
    response: OrganizationLimitsResponse,
  })
  @AdminOnly('change limits')
  @Put()
  put(
    @Scope() scope: OwnerScope,
    @JsonBody() { organization = NO_LIMITS, member = NO_LIMITS }: ReplaceLimitsDto,
  ): Promise<OrganizationLimitsResponse> {
    return this.limits.replace(scope, { organization, member });
  }
}

/** Limits of one member with its consumption, for admins and the member. Others get {@link AdminsOnly}. */
@ApiTags('Limits')
@Controller('me/organizations/:organizationId/members')
export class MemberLimitsController {
  constructor(private readonly limits: LimitsService) {}

  @Operation('getMemberLimits', 'Get the limits of a member', {
    description: 'The limits of every member, with the consumption of this one. For admins, and the member.',
    response: LimitsResponse,
    rejects: [new AdminsOnly('read the limits of other members'), NotFound],
  })
  @Get(':userId/limits')
  get(@Scope() scope: OwnerScope, @Param('userId') userId: string): Promise<LimitsResponse> {
    return this.limits.getOfMember(scope, userId);
  }
}
