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
import { BadRequest, NotFound } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import type { ParameterSchemas } from '../common/api/operation.js';
import { PersonalOrganization } from '../organizations/model/organizations.errors.js';
import { AdminOnly, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { InviteDto } from './dto/invitation.requests.js';
import { InvitationListResponse, CreatedInvitationResponse } from './dto/invitation.response.js';
import { INVITATION_STATUSES } from './invitation.entity.js';
import type { InvitationStatus } from './invitation.entity.js';
import {
  AlreadyMember,
  InvitationNotPending,
  InvitationPending,
  TooManyInvitations,
} from './invitations.errors.js';
import { InvitationsService } from './invitations.service.js';

const STATUS: ParameterSchemas = { status: { type: 'string', enum: INVITATION_STATUSES } };
const MAIL_LIMITS =
  'Limits of mails: one per minute and five in total per invitation, 100 per hour for an organization ' +
  'and 100 per hour for a user. Beyond a limit, `email_delivery` is `rate_limited`.';
const STATUS_UNKNOWN = new BadRequest(`status must be one of ${INVITATION_STATUSES.join(', ')}`);

/** Routes for admins who invite. */
@ApiTags('Invitations')
@Controller('me/organizations/:organizationId')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Operation('inviteMember', 'Invite a person', {
    description: `Valid for 7 days. ${MAIL_LIMITS}`,
    response: CreatedInvitationResponse,
    rejects: [AlreadyMember, InvitationPending, new PersonalOrganization('invited to'), TooManyInvitations],
  })
  @AdminOnly('invite members')
  @Header('Cache-Control', 'no-store')
  @Post('invite')
  invite(@Scope() scope: OwnerScope, @JsonBody() body: InviteDto): Promise<CreatedInvitationResponse> {
    return this.invitations.invite(scope, body);
  }

  @Operation('listOrganizationInvitations', 'List the invitations of an organization', {
    description: 'All pending invitations and the 1,000 newest of the others.',
    response: InvitationListResponse,
    query: STATUS,
    rejects: [STATUS_UNKNOWN],
  })
  @AdminOnly('list invitations')
  @Get('invitations')
  async list(@Scope() scope: OwnerScope, @Query('status') status: unknown): Promise<InvitationListResponse> {
    return { invitations: await this.invitations.list(scope, parseStatus(status)) };
  }

  @Operation('cancelInvitation', 'Cancel an invitation', {
    description: 'Succeeds for a cancelled invitation, too.',
    rejects: [NotFound, InvitationNotPending],
  })
  @AdminOnly('cancel invitations')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete('invitations/:invitationId')
  async cancel(@Scope() scope: OwnerScope, @Param('invitationId', ParseIntPipe) id: number): Promise<void> {
    await this.invitations.cancel(scope, id);
  }

  @Operation('resendInvitation', 'Send an invitation again', {
    description: `Creates a new token that is valid for 7 days. The old link no longer works. ${MAIL_LIMITS}`,
    response: CreatedInvitationResponse,
    rejects: [NotFound, InvitationNotPending],
  })
  @AdminOnly('resend invitations')
  @Header('Cache-Control', 'no-store')
  @HttpCode(HttpStatus.OK)
  @Post('invitations/:invitationId/resend')
  resend(
    @Scope() scope: OwnerScope,
    @Param('invitationId', ParseIntPipe) id: number,
  ): Promise<CreatedInvitationResponse> {
    return this.invitations.resend(scope, id);
  }
}

function parseStatus(text: unknown): InvitationStatus | undefined {
  const status = INVITATION_STATUSES.find((known) => known === text);
  if (text !== undefined && status === undefined) throw new BadRequest(STATUS_UNKNOWN.message);
  return status;
}
