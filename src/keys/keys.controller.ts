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
import { NotFound } from '../common/domain-error.js';
import { JsonBody, OptionalJsonBody } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import { ScopesService } from '../organizations/scopes.service.js';
import { MintOwnKeyDto, OF_MINTING, RenameKeyDto } from './dto/key.requests.js';
import { KeyListResponse, KeyResponse, NewKeyResponse } from './dto/key.response.js';
import { INCLUDE_REVOKED, IncludeRevoked, NotAChoice } from './key-query.js';
import { ScopeImmutable } from './keys.errors.js';
import { KeysService } from './keys.service.js';

/** Everything of the caller's, personal and team. */
@ApiTags('Keys')
@Controller('me/keys')
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly scopes: ScopesService,
  ) {}

  @Operation('listKeys', 'List your keys', {
    description: 'Personal and team ones.',
    answers: KeyListResponse,
    query: INCLUDE_REVOKED,
    refuses: [NotAChoice],
  })
  @Get()
  async list(
    @CurrentUser() user: SessionUser,
    @IncludeRevoked() includeRevoked: boolean,
  ): Promise<KeyListResponse> {
    return { keys: await this.keys.list({ userId: user.id }, includeRevoked) };
  }

  @Operation('mintKey', 'Mint a key', {
    description: OF_MINTING,
    answers: NewKeyResponse,
    refuses: [OrganizationNotFound],
  })
  @Header('Cache-Control', 'no-store')
  @Post()
  async mint(
    @CurrentUser() user: SessionUser,
    @OptionalJsonBody() body: MintOwnKeyDto,
  ): Promise<NewKeyResponse> {
    const { organization_id: id } = body;
    const scope =
      id === undefined ? await this.scopes.personalScope(user) : await this.scopes.scope(user, id);
    return this.keys.mint(scope, body);
  }

  @Operation('renameKey', 'Rename a key', {
    answers: KeyResponse,
    refuses: [NotFound, OrganizationNotFound, ScopeImmutable],
  })
  @Put(':keyId')
  rename(
    @CurrentUser() user: SessionUser,
    @Param('keyId', ParseIntPipe) id: number,
    @JsonBody() body: RenameKeyDto,
  ): Promise<KeyResponse> {
    return this.keys.rename(user, id, body);
  }

  @Operation('revokeKey', 'Revoke a key', {
    description: 'At once, and also when it was revoked before.',
    refuses: [NotFound],
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':keyId')
  async revoke(@CurrentUser() user: SessionUser, @Param('keyId', ParseIntPipe) id: number): Promise<void> {
    await this.keys.revoke(user, id, { userId: user.id });
  }
}
