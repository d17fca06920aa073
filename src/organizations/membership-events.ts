/** Notifies of the end of a membership. Listeners revoke what depends on it, in the same transaction. */
export class MemberLeaving {
  /** Number of revoked keys; listeners add to it. */
  revokedKeys = 0;

  constructor(
    readonly organizationId: number,
    readonly userId: string,
    /** Distinguishes a member who leaves from a removal by an admin. */
    readonly reason: 'left' | 'removed',
  ) {}
}

/** Notifies of the deletion of an organization, whose row is locked. */
export class OrganizationDeleting {
  /** Number of revoked keys; listeners add to it. */
  revokedKeys = 0;

  constructor(readonly organizationId: number) {}
}
