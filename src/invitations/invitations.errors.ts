import { HttpStatus } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';

/** No invitation has this token, or the invitation is not for the caller. */
export class InvitationNotFound extends DomainError {
  override readonly type = 'invitation_not_found';
  readonly status = HttpStatus.NOT_FOUND;

  constructor() {
    super('there is no such invitation');
  }
}

/** The identity provider does not vouch for the caller's address. */
export class EmailUnverified extends DomainError {
  override readonly type = 'email_unverified';
  readonly status = HttpStatus.FORBIDDEN;

  constructor() {
    super('verify your e-mail address first');
  }
}

/** Anybody may hold the link; only the invited address may use it. */
export class EmailMismatch extends DomainError {
  override readonly type = 'email_mismatch';
  readonly status = HttpStatus.FORBIDDEN;

  constructor() {
    super('the invitation is for another e-mail address');
  }
}

/** By an admin, by declining it, or because the organization is gone. */
export class InvitationCancelled extends DomainError {
  override readonly type = 'invitation_cancelled';
  readonly status = HttpStatus.GONE;

  constructor() {
    super('the invitation was cancelled');
  }
}

/** Not accepted within 7 days. */
export class InvitationExpired extends DomainError {
  override readonly type = 'invitation_expired';
  readonly status = HttpStatus.GONE;

  constructor() {
    super('the invitation has expired');
  }
}

/** An invitation is good for one membership. */
export class InvitationUsed extends DomainError {
  override readonly type = 'invitation_used';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('the invitation has been used');
  }
}

/** Whoever has the address is in the organization already. */
export class AlreadyMember extends DomainError {
  override readonly type = 'already_member';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('somebody with this address is a member already');
  }
}

/** There is one invitation at a time for an address. */
export class InvitationPending extends DomainError {
  override readonly type = 'invitation_pending';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('an invitation for this address is pending');
  }
}

/** It has been accepted, cancelled, or has expired. */
export class InvitationNotPending extends DomainError {
  override readonly type = 'invitation_not_pending';
  readonly status = HttpStatus.CONFLICT;

  constructor() {
    super('the invitation is no longer pending');
  }
}
