import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { InvitationExpiry } from './invitation-expiry.js';
import { InvitationMail } from './invitation-mail.entity.js';
import { InvitationMailer } from './invitation-mailer.js';
import { Invitation } from './invitation.entity.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';
import { ReceivedInvitationsController } from './received-invitations.controller.js';
import { ReceivedInvitationsService } from './received-invitations.service.js';

/** How people come to an organization. */
@Module({
  imports: [OrganizationsModule, TypeOrmModule.forFeature([Invitation, InvitationMail])],
  controllers: [InvitationsController, ReceivedInvitationsController],
  providers: [InvitationsService, ReceivedInvitationsService, InvitationMailer, InvitationExpiry],
})
export class InvitationsModule {}
