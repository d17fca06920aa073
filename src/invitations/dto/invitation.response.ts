import type { MemberResponse } from '../../organizations/dto/member.response.js';
import type { OrganizationResponse } from '../../organizations/dto/organization.response.js';
import type { Role } from '../../organizations/membership.entity.js';
import type { EmailDelivery, InvitationStatus } from '../invitation.entity.js';

export class InvitationResponse {
  id: number;
  organization_id: number;
  email: string;
  role: Role;
  /** As it is at this moment. */
  status: InvitationStatus;
  invited_by: { user_id: string; email: string };
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
  /** By an admin, by declining, or by the organization's deletion. */
  cancelled_at: string | null;
  /** What became of the mail. */
  email_delivery: EmailDelivery;
}

export class InvitationListResponse {
  invitations: InvitationResponse[];
}

/** The token is shown here and never again. */
export class NewInvitationResponse extends InvitationResponse {
  token: string;
  /** Where the dashboard takes the token. */
  join_url: string;
}

export class ReceivedInvitationResponse extends InvitationResponse {
  organization: { id: number; name: string };
}

export class ReceivedInvitationListResponse {
  invitations: ReceivedInvitationResponse[];
}

/** What the holder of a link may know. */
export class InvitationPreviewResponse {
  organization: { name: string; slug: string };
  role: Role;
  email: string;
  status: InvitationStatus;
  expires_at: string;
  invited_by: { user_id: string; email: string };
}

export class AcceptedInvitationResponse {
  organization: OrganizationResponse;
  member: MemberResponse;
}
