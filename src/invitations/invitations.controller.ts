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
import { ApiTags } from '@nestjs/swagger';
import { BadRequest, NotFound } from '../common/domain-error.js';
import { JsonBody } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import type { ParameterSchemas } from '../common/operation.js';
import { PersonalOrganization } from '../organizations/organizations.errors.js';
import { AdminOnly, Scope } from '../organizations/owner-scope.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { InviteDto } from './dto/invitation.requests.js';
import { InvitationListResponse, NewInvitationResponse } from './dto/invitation.response.js';
import { INVITATION_STATUSES } from './invitation.entity.js';
import type { InvitationStatus } from './invitation.entity.js';
import { AlreadyMember, InvitationNotPending, InvitationPending } from './invitations.errors.js';
import { InvitationsService } from './invitations.service.js';

const STATUS: ParameterSchemas = { status: { type: 'string', enum: INVITATION_STATUSES } };
const STATUS_UNKNOWN = new BadRequest(`status must be one of ${INVITATION_STATUSES.join(', ')}`);

/** The side of those who invite. */
@ApiTags('Invitations')
@Controller('me/organizations/:organizationId')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Operation('inviteMember', 'Invite somebody', {
    description: 'Valid for 7 days.',
    answers: NewInvitationResponse,
    refuses: [AlreadyMember, InvitationPending, new PersonalOrganization('invited to')],
  })
  @AdminOnly('invite members')
  @Header('Cache-Control', 'no-store')
  @Post('invite')
  invite(@Scope() scope: OwnerScope, @JsonBody() body: InviteDto): Promise<NewInvitationResponse> {
    return this.invitations.invite(scope, body);
  }

  @Operation('listOrganizationInvitations', 'List the invitations of an organization', {
    answers: InvitationListResponse,
    query: STATUS,
    refuses: [STATUS_UNKNOWN],
  })
  @AdminOnly('list invitations')
  @Get('invitations')
  async list(@Scope() scope: OwnerScope, @Query('status') status: unknown): Promise<InvitationListResponse> {
    return { invitations: await this.invitations.list(scope, parseStatus(status)) };
  }

  @Operation('cancelInvitation', 'Cancel an invitation', {
    description: 'Also when it was cancelled before.',
    refuses: [NotFound, InvitationNotPending],
  })
  @AdminOnly('cancel invitations')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete('invitations/:invitationId')
  async cancel(@Scope() scope: OwnerScope, @Param('invitationId', ParseIntPipe) id: number): Promise<void> {
    await this.invitations.cancel(scope, id);
  }

  @Operation('resendInvitation', 'Send an invitation again', {
    description: 'With a new token and for 7 new days: the old link is dead.',
    answers: NewInvitationResponse,
    refuses: [NotFound, InvitationNotPending],
  })
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
  if (text !== undefined && status === undefined) throw new BadRequest(STATUS_UNKNOWN.message);
  return status;
}
