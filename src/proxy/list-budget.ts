/** Of all lists at a time. Those of one owner leave room for others'. */
const OWNER_LIMIT_BYTES = 8_388_608;
const REPLICA_LIMIT_BYTES = 33_554_432;
/** Most lists together are smaller: so much there is always room for. */
const FREE_BYTES = 262_144;

/** The bytes of lists that are not merged yet. */
export class HeldBytes {
  all = 0;
  readonly byOwner = new Map<number, number>();
}

/** What one request may hold of them. */
export class ListBudget {
  private bytes = 0;

  constructor(
    private readonly held: HeldBytes,
    private readonly owner: number,
  ) {}

  /** @returns whether it may hold so much more */
  take(bytes: number): boolean {
    const ofOwner = this.held.byOwner.get(this.owner) ?? 0;
    const isFree = this.bytes + bytes <= FREE_BYTES;
    const hasRoom = ofOwner + bytes <= OWNER_LIMIT_BYTES && this.held.all + bytes <= REPLICA_LIMIT_BYTES;
    if (!isFree && !hasRoom) return false;
    this.count(bytes);
    return true;
  }

  giveBack(bytes = this.bytes): void {
    this.count(-bytes);
  }

  private count(bytes: number): void {
    const { held, owner } = this;
    const ofOwner = (held.byOwner.get(owner) ?? 0) + bytes;
    this.bytes += bytes;
    held.all += bytes;
    if (ofOwner > 0) held.byOwner.set(owner, ofOwner);
    else held.byOwner.delete(owner);
  }
}
