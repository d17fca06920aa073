import { Controller, Get, HttpCode, HttpStatus, Param, ParseIntPipe, Post } from '@nestjs/common';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { JsonBody } from '../common/json-body.js';
import { InvitationTokenDto } from './dto/invitation.requests.js';
import {
  AcceptedInvitationResponse,
  InvitationPreviewResponse,
  ReceivedInvitationListResponse,
} from './dto/invitation.response.js';
import { ReceivedInvitationsService } from './received-invitations.service.js';

/** The side of those who are invited. */
@Controller('me/invitations')
export class ReceivedInvitationsController {
  constructor(private readonly invitations: ReceivedInvitationsService) {}

  @Get()
  async list(@CurrentUser() user: SessionUser): Promise<ReceivedInvitationListResponse> {
    return { invitations: await this.invitations.list(user) };
  }

  @HttpCode(HttpStatus.OK)
  @Post('preview')
  preview(@JsonBody() { token }: InvitationTokenDto): Promise<InvitationPreviewResponse> {
    return this.invitations.preview(token);
  }

  @HttpCode(HttpStatus.OK)
  @Post('accept')
  acceptByToken(
    @CurrentUser() user: SessionUser,
    @JsonBody() { token }: InvitationTokenDto,
  ): Promise<AcceptedInvitationResponse> {
    return this.invitations.accept(user, { token });
  }

  @HttpCode(HttpStatus.OK)
  @Post(':invitationId/accept')
  accept(
    @CurrentUser() user: SessionUser,
    @Param('invitationId', ParseIntPipe) id: number,
  ): Promise<AcceptedInvitationResponse> {
    return this.invitations.accept(user, { id });
  }

  @HttpCode(HttpStatus.NO_CONTENT)
  @Post(':invitationId/decline')
  async decline(
    @CurrentUser() user: SessionUser,
    @Param('invitationId', ParseIntPipe) id: number,
  ): Promise<void> {
    await this.invitations.decline(user, { id });
  }
}
