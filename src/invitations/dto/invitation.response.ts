import {
  EMAIL,
  ID,
  instanceOf,
  listOf,
  optional,
  object,
  oneOf,
  orNull,
  ApiMember,
  text,
  TIME,
  USER_ID,
} from '../../common/api/members.js';
import { MemberResponse } from '../../organizations/dto/member.response.js';
import { OrganizationResponse } from '../../organizations/dto/organization.response.js';
import { ROLES } from '../../organizations/model/membership.entity.js';
import type { Role } from '../../organizations/model/membership.entity.js';
import { EMAIL_DELIVERIES, INVITATION_STATUSES } from '../invitation.entity.js';
import type { EmailDelivery, InvitationStatus } from '../invitation.entity.js';

const SHOWN_DELIVERIES = EMAIL_DELIVERIES.filter((delivery) => delivery !== 'disabled');

const INVITER = object({ user_id: USER_ID, email: EMAIL });

export class InvitationResponse {
  @ApiMember(ID)
  id: number;

  @ApiMember(ID)
  organization_id: number;

  @ApiMember({ ...EMAIL, example: 'grace@example.com' })
  email: string;

  @ApiMember(oneOf(ROLES))
  role: Role;

  @ApiMember(oneOf(INVITATION_STATUSES), 'Current status.')
  status: InvitationStatus;

  @ApiMember(INVITER)
  invited_by: { user_id: string; email: string };

  @ApiMember(TIME)
  created_at: string;

  @ApiMember(TIME)
  expires_at: string;

  @ApiMember(orNull(TIME))
  accepted_at: string | null;

  @ApiMember(
    orNull(TIME),
    'Time of the cancellation by an admin, of the declining, or of the deletion of the organization.',
  )
  cancelled_at: string | null;

  @ApiMember(
    optional(oneOf(SHOWN_DELIVERIES)),
    'State of the mail; absent without a mail server. `rate_limited`: no mail is sent, but the link works.',
  )
  email_delivery?: EmailDelivery;
}

export class InvitationListResponse {
  @ApiMember(listOf(InvitationResponse), 'Ordered by id.')
  invitations: InvitationResponse[];
}

/** Response with the token, which no other response contains. */
export class CreatedInvitationResponse extends InvitationResponse {
  @ApiMember(text('zO4pS0m3iWc1jv0sYb2cSGX9b1m0l7r5i0u6yq8t2kE'))
  token: string;

  @ApiMember(
    text('https://app.example.com/join?token=zO4pS0m3iWc1jv0sYb2cSGX9b1m0l7r5i0u6yq8t2kE'),
    'Page of the dashboard that accepts the invitation.',
  )
  join_url: string;
}

export class ReceivedInvitationResponse extends InvitationResponse {
  @ApiMember(object({ id: ID, name: text('Acme') }))
  organization: { id: number; name: string };
}

export class ReceivedInvitationListResponse {
  @ApiMember(listOf(ReceivedInvitationResponse), 'Pending invitations for the address of the caller.')
  invitations: ReceivedInvitationResponse[];
}

/** Part of an invitation that every holder of the link may see. */
export class InvitationPreviewResponse {
  @ApiMember(object({ name: text('Acme'), slug: text('acme') }))
  organization: { name: string; slug: string };

  @ApiMember(oneOf(ROLES))
  role: Role;

  @ApiMember({ ...EMAIL, example: 'grace@example.com' }, 'Address of the invited person.')
  email: string;

  @ApiMember(oneOf(INVITATION_STATUSES))
  status: InvitationStatus;

  @ApiMember(TIME)
  expires_at: string;

  @ApiMember(INVITER)
  invited_by: { user_id: string; email: string };
}

export class AcceptedInvitationResponse {
  @ApiMember(instanceOf(OrganizationResponse))
  organization: OrganizationResponse;

  @ApiMember(instanceOf(MemberResponse), 'The caller.')
  member: MemberResponse;
}
