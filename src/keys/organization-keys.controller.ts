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
  Query,
} from '@nestjs/common';
import { OptionalJsonBody } from '../common/json-body.js';
import { Scope } from '../organizations/owner-scope.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { MintKeyDto } from './dto/key.requests.js';
import { KeyListResponse, NewKeyResponse } from './dto/key.response.js';
import { KeysService } from './keys.service.js';

/** The keys of an organization: an admin's view has all of them, a member's its own. */
@Controller('me/organizations/:organizationId/keys')
export class OrganizationKeysController {
  constructor(private readonly keys: KeysService) {}

  @Get()
  async list(
    @Scope() scope: OwnerScope,
    @Query('include_revoked') includeRevoked: unknown,
  ): Promise<KeyListResponse> {
    return { keys: await this.keys.list(inView(scope), includeRevoked === 'true') };
  }

  @Header('Cache-Control', 'no-store')
  @Post()
  mint(@Scope() scope: OwnerScope, @OptionalJsonBody() body: MintKeyDto): Promise<NewKeyResponse> {
    return this.keys.mint(scope, body);
  }

  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':keyId')
  async revoke(@Scope() scope: OwnerScope, @Param('keyId', ParseIntPipe) id: number): Promise<void> {
    await this.keys.revoke(scope.user, id, inView(scope));
  }
}

function inView({ organizationId, role, user }: OwnerScope): { organizationId: number; userId?: string } {
  return role === 'admin' ? { organizationId } : { organizationId, userId: user.id };
}
