import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/api/domain-error.js';

/** No invitation has this token, or the invitation is not for the caller. */
export class InvitationNotFound extends DomainError {
  override readonly type = 'invitation_not_found';
  readonly status = HttpStatus.NOT_FOUND;

  constructor() {
    super('unknown invitation: ask for a new link');
  }
}

/** The identity provider has not verified the caller's address. */
export class EmailUnverified extends DomainError {
  override readonly type = 'email_unverified';
  readonly status = HttpStatus.FORBIDDEN;

  constructor() {
    super('verify your e-mail address first');
  }
}

/** The caller holds the link, but another address is invited. */
export class EmailMismatch extends DomainError {
  override readonly type = 'email_mismatch';
  readonly status = HttpStatus.FORBIDDEN;

  constructor() {
    super('the invitation is for another e-mail address: sign in with that address');
  }
}

/** Cancelled by an admin, declined, or its organization was deleted. */
export class InvitationCancelled extends DomainError {
  override readonly type = 'invitation_cancelled';
  readonly status = HttpStatus.GONE;

  constructor() {
    super('the invitation was cancelled: ask for another invitation');
  }
}

/** The invitation was not accepted within 7 days. */
export class InvitationExpired extends DomainError {
  override readonly type = 'invitation_expired';
  readonly status = HttpStatus.GONE;

  constructor() {
    super('the invitation has expired: ask for another invitation');
  }
}

/** An invitation can be accepted only once. */
export class InvitationUsed extends DomainError {
  override readonly type = 'invitation_used';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('the invitation has already been used');
  }
}

/** A member of the organization has this address. */
export class AlreadyMember extends DomainError {
  override readonly type = 'already_member';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('a member already has this address');
  }
}

/** The address already has a pending invitation. */
export class InvitationPending extends DomainError {
  override readonly type = 'invitation_pending';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('an invitation for this address is pending: cancel or resend it');
  }
}

/** The invitation was accepted or cancelled, or has expired. */
export class InvitationNotPending extends DomainError {
  override readonly type = 'invitation_not_pending';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('the invitation is no longer pending');
  }
}

/** Maximum number of pending invitations of one organization. */
export const PENDING_INVITATIONS_MAX = 500;

/** The organization has {@link PENDING_INVITATIONS_MAX} pending invitations. */
export class TooManyInvitations extends DomainError {
  override readonly type = 'too_many_invitations';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super(
      `an organization can have at most ${PENDING_INVITATIONS_MAX} pending invitations: cancel one first`,
    );
  }
}
