import {
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Param,
  ParseIntPipe,
  Post,
  Put,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/api/domain-error.js';
import { Flag, flagParameter, InvalidFlag } from '../common/api/flag-query.js';
import { JsonBody, OptionalJsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { OrganizationNotFound } from '../organizations/model/organizations.errors.js';
import { Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { ScopesService } from '../organizations/scope/scopes.service.js';
import { MINT_DESCRIPTION, MintKeyDto, MintOwnKeyDto, RenameKeyDto } from './dto/key.requests.js';
import { KeyListResponse, KeyResponse, CreatedKeyResponse } from './dto/key.response.js';
import { ScopeImmutable, TooManyKeys } from './keys.errors.js';
import type { KeyFilter } from './key-rows.js';
import { KeysService } from './keys.service.js';

const INCLUDE_REVOKED = flagParameter(
  'include_revoked',
  'Whether to include revoked keys, up to the 1,000 that were revoked last.',
);

/** Keys at two addresses: `me/keys` has all keys of the caller, the address of an organization the keys of that owner. */
@ApiTags('Keys')
@Controller('me')
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly scopes: ScopesService,
  ) {}

  @Operation('listKeys', 'List your keys', {
    description: 'Keys of the personal organization and of teams.',
    response: KeyListResponse,
    query: INCLUDE_REVOKED,
    rejects: [new InvalidFlag('include_revoked')],
  })
  @Get('keys')
  async list(
    @CurrentUser() user: SessionUser,
    @Flag('include_revoked') includeRevoked: boolean,
  ): Promise<KeyListResponse> {
    return { keys: await this.keys.list({ userId: user.id }, includeRevoked) };
  }

  @Operation('mintKey', 'Mint a key', {
    description: MINT_DESCRIPTION,
    response: CreatedKeyResponse,
    rejects: [OrganizationNotFound, TooManyKeys],
  })
  @Header('Cache-Control', 'no-store')
  @Post('keys')
  async mint(
    @CurrentUser() user: SessionUser,
    @OptionalJsonBody() body: MintOwnKeyDto,
  ): Promise<CreatedKeyResponse> {
    return this.keys.mint(await this.scopes.findScopeOrPersonal(user, body.organization_id), body);
  }

  @Operation('renameKey', 'Rename a key', {
    description: 'Changes the name only. The key itself stays valid.',
    response: KeyResponse,
    rejects: [NotFound, OrganizationNotFound, ScopeImmutable],
  })
  @Put('keys/:keyId')
  rename(
    @CurrentUser() user: SessionUser,
    @Param('keyId', ParseIntPipe) id: number,
    @JsonBody() body: RenameKeyDto,
  ): Promise<KeyResponse> {
    return this.keys.rename(user, id, body);
  }

  @Operation('revokeKey', 'Revoke a key', {
    description: 'Takes effect at once. Succeeds for a revoked key, too.',
    rejects: [NotFound],
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete('keys/:keyId')
  async revoke(@CurrentUser() user: SessionUser, @Param('keyId', ParseIntPipe) id: number): Promise<void> {
    await this.keys.revoke(user, id, { userId: user.id });
  }

  @Operation('listOrganizationKeys', 'List the keys of an organization', {
    description: 'An admin gets all keys, a member only their own.',
    response: KeyListResponse,
    query: INCLUDE_REVOKED,
    rejects: [new InvalidFlag('include_revoked')],
  })
  @Get('organizations/:organizationId/keys')
  async listOfOrganization(
    @Scope() scope: OwnerScope,
    @Flag('include_revoked') includeRevoked: boolean,
  ): Promise<KeyListResponse> {
    return { keys: await this.keys.list(visibleKeys(scope), includeRevoked) };
  }

  @Operation('mintOrganizationKey', 'Mint a key of an organization', {
    description: MINT_DESCRIPTION,
    response: CreatedKeyResponse,
    rejects: [TooManyKeys],
  })
  @Header('Cache-Control', 'no-store')
  @Post('organizations/:organizationId/keys')
  mintForOrganization(
    @Scope() scope: OwnerScope,
    @OptionalJsonBody() body: MintKeyDto,
  ): Promise<CreatedKeyResponse> {
    return this.keys.mint(scope, body);
  }

  @Operation('revokeOrganizationKey', 'Revoke a key of an organization', {
    description: 'An admin can revoke any key, a member only their own. Succeeds for a revoked key, too.',
    rejects: [NotFound],
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete('organizations/:organizationId/keys/:keyId')
  async revokeOfOrganization(
    @Scope() scope: OwnerScope,
    @Param('keyId', ParseIntPipe) id: number,
  ): Promise<void> {
    await this.keys.revoke(scope.user, id, visibleKeys(scope));
  }
}

/** Filters the keys of an organization that the caller may see and revoke: all for admins, their own for members. */
function visibleKeys({ organizationId, role, user }: OwnerScope): KeyFilter {
  return role === 'admin' ? { organizationId } : { organizationId, userId: user.id };
}
