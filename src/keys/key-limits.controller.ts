import { Controller, Get, Injectable, Param, ParseIntPipe, Put, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { CurrentUser, getSessionUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { ReplaceKeyLimitsDto, LimitsResponse, toLimitSet } from '../limits/dto/limits.dto.js';
import { AdminsOnly, OrganizationNotFound } from '../organizations/model/organizations.errors.js';
import { AdminOnly, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { CHANGE_KEY_LIMITS, KeyLimitsService } from './key-limits.service.js';

/** Checks the role of the holder before the body is read, as for every route. */
@Injectable()
export class KeyLimitsGuard implements CanActivate {
  constructor(private readonly limits: KeyLimitsService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    await this.limits.assertMayChange(getSessionUser(request), Number(request.params.keyId));
    return true;
  }
}

/** Limits of single keys, for their holders and for admins. */
@ApiTags('Limits')
@Controller('me')
export class KeyLimitsController {
  constructor(private readonly limits: KeyLimitsService) {}

  @Operation('getKeyLimits', 'Get the limits of a key', {
    description: 'Returns the limits of your own key and its consumption.',
    response: LimitsResponse,
    rejects: [NotFound],
  })
  @Get('keys/:keyId/limits')
  get(@CurrentUser() user: SessionUser, @Param('keyId', ParseIntPipe) id: number): Promise<LimitsResponse> {
    return this.limits.get(id, { userId: user.id });
  }

  @Operation('putKeyLimits', 'Replace the limits of a key', {
    description: 'Only admins can change the limits of a key of a team.',
    response: LimitsResponse,
    rejects: [NotFound, OrganizationNotFound, new AdminsOnly(CHANGE_KEY_LIMITS)],
  })
  @UseGuards(KeyLimitsGuard)
  @Put('keys/:keyId/limits')
  put(
    @CurrentUser() user: SessionUser,
    @Param('keyId', ParseIntPipe) id: number,
    @JsonBody() body: ReplaceKeyLimitsDto,
  ): Promise<LimitsResponse> {
    return this.limits.replace(user, id, { userId: user.id }, toLimitSet(body));
  }

  @Operation('getOrganizationKeyLimits', 'Get the limits of a key of an organization', {
    description: 'For admins. Holders read the limits of their own keys at `/me/keys/{key_id}/limits`.',
    response: LimitsResponse,
    rejects: [NotFound],
  })
  @AdminOnly('read the limits of keys')
  @Get('organizations/:organizationId/keys/:keyId/limits')
  getOfOrganization(
    @Scope() { organizationId }: OwnerScope,
    @Param('keyId', ParseIntPipe) id: number,
  ): Promise<LimitsResponse> {
    return this.limits.get(id, { organizationId });
  }

  @Operation('putOrganizationKeyLimits', 'Replace the limits of a key of an organization', {
    description: 'Replaces all limits of the key. A limit that is absent does not apply any more.',
    response: LimitsResponse,
    rejects: [NotFound],
  })
  @AdminOnly(CHANGE_KEY_LIMITS)
  @Put('organizations/:organizationId/keys/:keyId/limits')
  putOfOrganization(
    @Scope() { organizationId, user }: OwnerScope,
    @Param('keyId', ParseIntPipe) id: number,
    @JsonBody() body: ReplaceKeyLimitsDto,
  ): Promise<LimitsResponse> {
    return this.limits.replace(user, id, { organizationId }, toLimitSet(body));
  }
}
