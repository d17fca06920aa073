import {
  EMAIL,
  ID,
  instanceOf,
  listOf,
  maybe,
  object,
  oneOf,
  orNull,
  Shown,
  text,
  TIME,
  USER_ID,
} from '../../common/members.js';
import { MemberResponse } from '../../organizations/dto/member.response.js';
import { OrganizationResponse } from '../../organizations/dto/organization.response.js';
import { ROLES } from '../../organizations/membership.entity.js';
import type { Role } from '../../organizations/membership.entity.js';
import { EMAIL_DELIVERIES, INVITATION_STATUSES } from '../invitation.entity.js';
import type { EmailDelivery, InvitationStatus } from '../invitation.entity.js';

const SHOWN_DELIVERIES = EMAIL_DELIVERIES.filter((delivery) => delivery !== 'disabled');

const INVITER = object({ user_id: USER_ID, email: EMAIL });

export class InvitationResponse {
  @Shown(ID)
  id: number;

  @Shown(ID)
  organization_id: number;

  @Shown({ ...EMAIL, example: 'grace@example.com' })
  email: string;

  @Shown(oneOf(ROLES))
  role: Role;

  @Shown(oneOf(INVITATION_STATUSES), 'As it is at this moment.')
  status: InvitationStatus;

  @Shown(INVITER)
  invited_by: { user_id: string; email: string };

  @Shown(TIME)
  created_at: string;

  @Shown(TIME)
  expires_at: string;

  @Shown(orNull(TIME))
  accepted_at: string | null;

  @Shown(orNull(TIME), 'By an admin, by declining, or by the deletion of the organization.')
  cancelled_at: string | null;

  @Shown(maybe(oneOf(SHOWN_DELIVERIES)), 'What became of the mail, where there is a mail server.')
  email_delivery?: EmailDelivery;
}

export class InvitationListResponse {
  @Shown(listOf(InvitationResponse), 'All of them, by id.')
  invitations: InvitationResponse[];
}

/** The token is shown here and never again. */
export class NewInvitationResponse extends InvitationResponse {
  @Shown(text('zO4pS0m3iWc1jv0sYb2cSGX9b1m0l7r5i0u6yq8t2kE'))
  token: string;

  @Shown(
    text('https://app.example.com/join?token=zO4pS0m3iWc1jv0sYb2cSGX9b1m0l7r5i0u6yq8t2kE'),
    'Where the dashboard takes the token.',
  )
  join_url: string;
}

export class ReceivedInvitationResponse extends InvitationResponse {
  @Shown(object({ id: ID, name: text('Acme') }))
  organization: { id: number; name: string };
}

export class ReceivedInvitationListResponse {
  @Shown(listOf(ReceivedInvitationResponse), 'Pending ones for the address of the caller.')
  invitations: ReceivedInvitationResponse[];
}

/** What the holder of a link may know. */
export class InvitationPreviewResponse {
  @Shown(object({ name: text('Acme'), slug: text('acme') }))
  organization: { name: string; slug: string };

  @Shown(oneOf(ROLES))
  role: Role;

  @Shown({ ...EMAIL, example: 'grace@example.com' }, 'Who can accept it.')
  email: string;

  @Shown(oneOf(INVITATION_STATUSES))
  status: InvitationStatus;

  @Shown(TIME)
  expires_at: string;

  @Shown(INVITER)
  invited_by: { user_id: string; email: string };
}

export class AcceptedInvitationResponse {
  @Shown(instanceOf(OrganizationResponse))
  organization: OrganizationResponse;

  @Shown(instanceOf(MemberResponse), 'The caller.')
  member: MemberResponse;
}
