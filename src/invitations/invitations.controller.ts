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
import { BadRequest } from '../common/domain-error.js';
import { JsonBody } from '../common/json-body.js';
import { AdminOnly, Scope } from '../organizations/owner-scope.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { InviteDto } from './dto/invitation.requests.js';
import { InvitationListResponse, NewInvitationResponse } from './dto/invitation.response.js';
import { INVITATION_STATUSES } from './invitation.entity.js';
import type { InvitationStatus } from './invitation.entity.js';
import { InvitationsService } from './invitations.service.js';

/** The side of those who invite. */
@Controller('me/organizations/:organizationId')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @AdminOnly('invite members')
  @Header('Cache-Control', 'no-store')
  @Post('invite')
  invite(@Scope() scope: OwnerScope, @JsonBody() body: InviteDto): Promise<NewInvitationResponse> {
    return this.invitations.invite(scope, body);
  }

  @AdminOnly('list invitations')
  @Get('invitations')
  async list(@Scope() scope: OwnerScope, @Query('status') status: unknown): Promise<InvitationListResponse> {
    return { invitations: await this.invitations.list(scope, parseStatus(status)) };
  }

  @AdminOnly('cancel invitations')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete('invitations/:invitationId')
  async cancel(@Scope() scope: OwnerScope, @Param('invitationId', ParseIntPipe) id: number): Promise<void> {
    await this.invitations.cancel(scope, id);
  }

  @AdminOnly('resend invitations')
  @Header('Cache-Control', 'no-store')
  @HttpCode(HttpStatus.OK)
  @Post('invitations/:invitationId/resend')
  resend(
    @Scope() scope: OwnerScope,
    @Param('invitationId', ParseIntPipe) id: number,
  ): Promise<NewInvitationResponse> {
    return this.invitations.resend(scope, id);
  }
}

function parseStatus(text: unknown): InvitationStatus | undefined {
  const status = INVITATION_STATUSES.find((known) => known === text);
  if (text !== undefined && status === undefined) {
    throw new BadRequest(`status must be one of ${INVITATION_STATUSES.join(', ')}`);
  }
  return status;
}
