import { BodyPace } from './body-pace.js';

/** Bodies up to this size neither wait for memory nor count towards the budget. */
export const LARGE_BODY_BYTES = 1_048_576;

/** Memory that a body reserves ahead of its bytes: one read from a socket. */
export const STEP_BYTES = 65_536;

/** Memory of one large body. */
export class HeldBody {
  readonly wantedBytes: number;
  /** Reserved within the limits. */
  chargedBytes = 0;
  /** Reserved beyond the limits. */
  overdraftBytes = 0;
  /** Whether the body has received memory. */
  isAdmitted = false;
  private arrivedBytes: number;
  private readonly pace = new BodyPace();
  private state: 'waiting' | 'arriving' | 'complete' | 'released' = 'waiting';

  /** Pauses the request. */
  constructor(
    private readonly budget: Reservations,
    private readonly request: Pausable,
    readonly owner: BodyOwner,
    { wantedBytes, arrivedBytes }: { readonly wantedBytes: number; readonly arrivedBytes: number },
    private readonly onTooSlow: () => void,
  ) {
    this.wantedBytes = wantedBytes;
    this.arrivedBytes = arrivedBytes;
    request.pause();
  }

  get isWaiting(): boolean {
    return this.state === 'waiting';
  }

  /** Whether memory is kept free for the rest of the body. */
  get isActive(): boolean {
    return this.state === 'waiting' || (this.state === 'arriving' && this.pace.isActive);
  }

  /** Number of bytes to reserve before the next read. */
  get nextBytes(): number {
    const bytes = Math.min(this.arrivedBytes + STEP_BYTES, Math.max(this.wantedBytes, this.arrivedBytes));
    return Math.max(0, bytes - this.reservedBytes);
  }

  get reservedBytes(): number {
    return this.chargedBytes + this.overdraftBytes;
  }

  /** Counts received bytes, and pauses the request if there is no room for more. */
  onData(bytes: number): void {
    this.pace.onData(bytes);
    this.arrivedBytes += bytes;
    if (this.state !== 'arriving' || this.budget.tryReserveNext(this)) return;
    this.state = 'waiting';
    this.request.pause();
  }

  /** Returns memory that was reserved beyond the size of the complete body. */
  onEnd(): void {
    this.state = 'complete';
    this.isAdmitted = true;
    const excess = this.reservedBytes - this.arrivedBytes;
    const fromOverdraft = Math.min(Math.max(0, excess), this.overdraftBytes);
    this.overdraftBytes -= fromOverdraft;
    this.budget.charge(this, fromOverdraft - excess);
    this.budget.onBodyComplete(this);
  }

  /** Charges an edited copy that is held in addition to the body. */
  addCopy(bytes: number): void {
    this.budget.charge(this, bytes);
  }

  /** Frees the memory. The rest of an incomplete body is read and discarded. */
  release(): void {
    if (this.state === 'released') return;
    const isPaused = this.isWaiting;
    this.state = 'released';
    this.budget.release(this);
    if (isPaused) this.request.resume();
  }

  /** @returns false if there is no room @internal */
  resumeIfRoom(): boolean {
    if (!this.budget.tryReserveNext(this)) return false;
    this.isAdmitted = true;
    this.state = 'arriving';
    this.pace.onPaused();
    this.request.resume();
    return true;
  }

  /** @internal */
  endTick(): void {
    if (this.state !== 'arriving') return;
    if (this.pace.endTick(this.arrivedBytes > LARGE_BODY_BYTES)) this.onTooSlow();
  }
}

/** Source of a body's bytes. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** Memory of one organization's bodies. */
export interface BodyOwner {
  readonly id: number;
  /** Large bodies of the organization, oldest first. */
  readonly bodies: Set<HeldBody>;
  chargedBytes: number;
  /** Charged bytes plus bytes kept free for arriving bodies. Current while bodies are admitted. */
  demandBytes: number;
  /** Number of admitted bodies. Current while bodies are admitted. */
  admittedCount: number;
}

/** Budget that grants the memory. */
export interface Reservations {
  /** Reserves `nextBytes` of the body. @returns false if there is no room */
  tryReserveNext(body: HeldBody): boolean;
  /** Changes the charged bytes without checking for room. */
  charge(body: HeldBody, bytes: number): void;
  onBodyComplete(body: HeldBody): void;
  release(body: HeldBody): void;
}
