import type { SessionUser } from '../auth/session-user.js';
import { emailKey } from '../common/text/text.js';
import type { InvitationRow } from './invitation-rows.js';
import type { InvitationStatus } from './invitation.entity.js';
import {
  EmailMismatch,
  EmailUnverified,
  InvitationCancelled,
  InvitationExpired,
  InvitationNotFound,
  InvitationNotPending,
  InvitationUsed,
} from './invitations.errors.js';

type Addressee = Pick<SessionUser, 'id' | 'email' | 'emailVerified'>;

/**
 * Checks that the user holds the invited address. The user who accepted the invitation stays its addressee, even with
 * another address.
 * @param hidden reject other users with 404: ids can be guessed, tokens cannot
 * @throws InvitationNotFound @throws EmailUnverified @throws EmailMismatch, checked in this order
 */
export function assertAddressed(
  user: Addressee,
  invitation: Pick<InvitationRow, 'emailKey' | 'acceptedByUserId'>,
  hidden: boolean,
): void {
  const isAccepter = invitation.acceptedByUserId === user.id;
  const isAddressed = isAccepter || emailKey(user.email) === invitation.emailKey;
  if (hidden && !isAddressed) throw new InvitationNotFound();
  if (!user.emailVerified) throw new EmailUnverified();
  if (!isAddressed) throw new EmailMismatch();
}

/**
 * Checks that an invitation is pending or accepted and that its organization exists.
 * @param organizationId null once the organization is deleted, which makes an accepted invitation used
 * @returns the id of the organization
 * @throws InvitationCancelled @throws InvitationExpired @throws InvitationUsed, checked in this order
 */
export function openOrganizationId(status: InvitationStatus, organizationId: number | null): number {
  if (status === 'cancelled') throw new InvitationCancelled();
  if (status === 'expired') throw new InvitationExpired();
  if (organizationId === null) throw new InvitationUsed();
  return organizationId;
}

/** Checks that the invitation was not accepted. @throws InvitationUsed */
export function assertDeclinable(status: InvitationStatus): void {
  if (status === 'accepted') throw new InvitationUsed();
}

/** @returns false if the invitation is already cancelled, which is no error @throws InvitationNotPending */
export function needsCancellation(status: InvitationStatus): boolean {
  if (status === 'cancelled') return false;
  assertPending(status);
  return true;
}

/** @throws InvitationNotPending */
export function assertPending(status: InvitationStatus): void {
  if (status !== 'pending') throw new InvitationNotPending();
}
