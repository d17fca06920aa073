/** A member is about to lose its place. What the place gave goes with it, in the same transaction. */
export class MemberLeaving {
  /** How many keys were revoked; listeners add to it. */
  revokedKeys = 0;

  constructor(
    readonly organizationId: number,
    readonly userId: string,
    /** Who had it so: the member itself, or an admin. */
    readonly reason: 'left' | 'removed',
  ) {}
}

/** The organization's row is locked and about to go, with all that is in it. */
export class OrganizationDeleting {
  /** How many keys were revoked; listeners add to it. */
  revokedKeys = 0;

  constructor(readonly organizationId: number) {}
}
