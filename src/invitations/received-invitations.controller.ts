import { Controller, Get, HttpCode, HttpStatus, Param, ParseIntPipe, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { TooManyMembers } from '../organizations/model/organizations.errors.js';
import { InvitationTokenDto } from './dto/invitation.requests.js';
import {
  AcceptedInvitationResponse,
  InvitationPreviewResponse,
  ReceivedInvitationListResponse,
} from './dto/invitation.response.js';
import {
  EmailMismatch,
  EmailUnverified,
  InvitationCancelled,
  InvitationExpired,
  InvitationNotFound,
  InvitationUsed,
} from './invitations.errors.js';
import { ReceivedInvitationsService } from './received-invitations.service.js';

const REJECTIONS = [
  InvitationNotFound,
  EmailUnverified,
  InvitationCancelled,
  InvitationExpired,
  InvitationUsed,
];
const IDEMPOTENT = 'A repeated request of the same user, while still a member, gets the same response.';

/** Routes for invited users. */
@ApiTags('Invitations')
@Controller('me/invitations')
export class ReceivedInvitationsController {
  constructor(private readonly invitations: ReceivedInvitationsService) {}

  @Operation('listInvitations', 'List invitations for you', {
    description: 'Pending invitations for the e-mail address of the caller.',
    response: ReceivedInvitationListResponse,
  })
  @Get()
  async list(@CurrentUser() user: SessionUser): Promise<ReceivedInvitationListResponse> {
    return { invitations: await this.invitations.list(user) };
  }

  @Operation('previewInvitation', 'Preview an invitation', {
    description: 'Available to every holder of the link.',
    response: InvitationPreviewResponse,
    rejects: [InvitationNotFound],
  })
  @HttpCode(HttpStatus.OK)
  @Post('preview')
  preview(@JsonBody() { token }: InvitationTokenDto): Promise<InvitationPreviewResponse> {
    return this.invitations.preview(token);
  }

  @Operation('acceptInvitationByToken', 'Accept an invitation by its link', {
    description: IDEMPOTENT,
    response: AcceptedInvitationResponse,
    rejects: [...REJECTIONS, EmailMismatch, TooManyMembers],
  })
  @HttpCode(HttpStatus.OK)
  @Post('accept')
  acceptByToken(
    @CurrentUser() user: SessionUser,
    @JsonBody() { token }: InvitationTokenDto,
  ): Promise<AcceptedInvitationResponse> {
    return this.invitations.accept(user, { token });
  }

  @Operation('acceptInvitation', 'Accept an invitation', {
    description: IDEMPOTENT,
    response: AcceptedInvitationResponse,
    rejects: [...REJECTIONS, TooManyMembers],
  })
  @HttpCode(HttpStatus.OK)
  @Post(':invitationId/accept')
  accept(
    @CurrentUser() user: SessionUser,
    @Param('invitationId', ParseIntPipe) id: number,
  ): Promise<AcceptedInvitationResponse> {
    return this.invitations.accept(user, { id });
  }

  @Operation('declineInvitation', 'Decline an invitation', {
    description: 'The invitation cannot be accepted afterwards.',
    rejects: REJECTIONS,
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  @Post(':invitationId/decline')
  async decline(
    @CurrentUser() user: SessionUser,
    @Param('invitationId', ParseIntPipe) id: number,
  ): Promise<void> {
    await this.invitations.decline(user, { id });
  }
}
