import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailModule } from '../mail/mail.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { InvitationExpiry } from './invitation-expiry.js';
import { InvitationMail, InvitationMailGrant } from './invitation-mail.entity.js';
import { InvitationMailer } from './invitation-mailer.js';
import { Invitation } from './invitation.entity.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';
import { ReceivedInvitationsController } from './received-invitations.controller.js';
import { ReceivedInvitationsService } from './received-invitations.service.js';

/** Invitations of people to organizations. */
@Module({
  imports: [
    OrganizationsModule,
    MailModule,
    TypeOrmModule.forFeature([Invitation, InvitationMail, InvitationMailGrant]),
  ],
  controllers: [InvitationsController, ReceivedInvitationsController],
  providers: [InvitationsService, ReceivedInvitationsService, InvitationMailer, InvitationExpiry],
})
export class InvitationsModule {}
