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
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NotFound } from '../common/domain-error.js';
import { OptionalJsonBody } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import { Scope } from '../organizations/owner-scope.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { MintKeyDto, OF_MINTING } from './dto/key.requests.js';
import { KeyListResponse, NewKeyResponse } from './dto/key.response.js';
import { INCLUDE_REVOKED, IncludeRevoked, NotAChoice } from './key-query.js';
import { KeysService } from './keys.service.js';

/** The keys of an organization: an admin's view has all of them, a member's its own. */
@ApiTags('Keys')
@Controller('me/organizations/:organizationId/keys')
export class OrganizationKeysController {
  constructor(private readonly keys: KeysService) {}

  @Operation('listOrganizationKeys', 'List the keys of an organization', {
    description: 'An admin sees all, a member their own.',
    answers: KeyListResponse,
    query: INCLUDE_REVOKED,
    refuses: [NotAChoice],
  })
  @Get()
  async list(
    @Scope() scope: OwnerScope,
    @IncludeRevoked() includeRevoked: boolean,
  ): Promise<KeyListResponse> {
    return { keys: await this.keys.list(inView(scope), includeRevoked) };
  }

  @Operation('mintOrganizationKey', 'Mint a key of an organization', {
    description: OF_MINTING,
    answers: NewKeyResponse,
  })
  @Header('Cache-Control', 'no-store')
  @Post()
  mint(@Scope() scope: OwnerScope, @OptionalJsonBody() body: MintKeyDto): Promise<NewKeyResponse> {
    return this.keys.mint(scope, body);
  }

  @Operation('revokeOrganizationKey', 'Revoke a key of an organization', {
    description: 'An admin any, a member their own; also when it was revoked before.',
    refuses: [NotFound],
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':keyId')
  async revoke(@Scope() scope: OwnerScope, @Param('keyId', ParseIntPipe) id: number): Promise<void> {
    await this.keys.revoke(scope.user, id, inView(scope));
  }
}

function inView({ organizationId, role, user }: OwnerScope): { organizationId: number; userId?: string } {
  return role === 'admin' ? { organizationId } : { organizationId, userId: user.id };
}
