import { Injectable } from '@nestjs/common';
import { Settings } from '../../../config/settings.js';
import { TICK_MS } from './body-pace.js';
import { HeldBody } from './held-body.js';
import type { BodyOwner, Pausable, Reservations } from './held-body.js';

/**
 * Memory for large request bodies. A body is held until a response begins, because another upstream may have to be
 * tried. A body that finds no room is paused: the service reads no more of it.
 *
 * - An organization holds at most half of the memory, or one body.
 * - A body reserves memory as its bytes arrive. The rest of its length stays free while it arrives fast enough.
 *   Without that, concurrent bodies would fill the memory with their beginnings, and only one could complete.
 * - Free memory goes to the waiting organization that holds least.
 * - The oldest body of an organization can always complete. If its memory was given away while it stalled, it
 *   exceeds the limits. Only one body at a time may do so, and its excess reduces no other share. The oldest body of
 *   all is therefore never stuck, and neither are the bodies queued after it.
 */
@Injectable()
export class BodyBudget implements Reservations {
  private readonly limitBytes: number;
  private readonly shareBytes: number;
  private readonly owners = new Map<number, BodyOwner>();
  /** All large bodies, oldest first. */
  private readonly bodies = new Set<HeldBody>();
  private chargedBytes = 0;
  /** Body that may exceed the limits until its release. */
  private exempt?: HeldBody;
  private isTicking = false;

  constructor({ proxyBodyMemoryBytes }: Settings) {
    this.limitBytes = proxyBodyMemoryBytes;
    this.shareBytes = Math.floor(proxyBodyMemoryBytes / 2);
  }

  /**
   * Pauses a request until there is room for more of its body.
   * @param onTooSlow is called at most once, if the body arrives too slowly
   * @returns memory of the body; the caller must release it
   */
  hold(request: Pausable, ownerId: number, size: BodySize, onTooSlow: () => void): HeldBody {
    const owner = this.owners.get(ownerId) ?? { id: ownerId, bodies: new Set(), ...EMPTY_ACCOUNT };
    const body = new HeldBody(this, request, owner, size, onTooSlow);
    this.owners.set(ownerId, owner);
    owner.bodies.add(body);
    this.bodies.add(body);
    this.resumeWaiting();
    this.startTicking();
    return body;
  }

  /** @internal */
  tryReserveNext(body: HeldBody): boolean {
    const { owner, nextBytes: bytes } = body;
    if (bytes === 0) return true;
    const fits =
      this.chargedBytes + bytes <= this.limitBytes &&
      (owner.chargedBytes + bytes <= this.shareBytes || owner.chargedBytes === body.chargedBytes);
    if (fits) this.charge(body, bytes);
    else if (this.tryExempt(body)) body.overdraftBytes += bytes;
    else return false;
    return true;
  }

  /** @internal */
  charge(body: HeldBody, bytes: number): void {
    body.chargedBytes += bytes;
    body.owner.chargedBytes += bytes;
    this.chargedBytes += bytes;
  }

  /** @internal */
  onBodyComplete(body: HeldBody): void {
    if (this.exempt === body && body.overdraftBytes === 0) this.exempt = undefined;
    this.resumeWaiting();
  }

  /** @internal */
  release(body: HeldBody): void {
    const { owner } = body;
    this.charge(body, -body.chargedBytes);
    this.bodies.delete(body);
    owner.bodies.delete(body);
    if (owner.bodies.size === 0) this.owners.delete(owner.id);
    if (this.exempt === body) this.exempt = undefined;
    this.resumeWaiting();
  }

  /** Rejects bodies that arrive too slowly and gives away the memory reserved for stalled ones. @internal */
  tick(): void {
    for (const body of this.bodies) body.endTick();
    this.resumeWaiting();
  }

  /** Resumes the waiting bodies for which there is room. */
  private resumeWaiting(): void {
    const queued = new Map<BodyOwner, HeldBody[]>();
    for (const body of this.bodies) {
      if (!body.isWaiting) continue;
      if (body.isAdmitted) body.resumeIfRoom();
      else if (queued.get(body.owner)?.push(body) === undefined) queued.set(body.owner, [body]);
    }
    if (queued.size > 0) this.admit(queued);
  }

  /** Organizations take turns: the one with the least memory first, with its oldest body first. */
  private admit(queued: ReadonlyMap<BodyOwner, readonly HeldBody[]>): void {
    let demandBytes = this.sumDemands();
    let queues = [...queued];
    for (let turn = 0; queues.length > 0; turn++) {
      queues.sort(([a], [b]) => a.demandBytes - b.demandBytes);
      for (const [owner, bodies] of queues) {
        const before = this.cappedDemand(owner);
        if (this.hasRoom(bodies[turn]!, demandBytes - before)) this.start(bodies[turn]!);
        demandBytes += this.cappedDemand(owner) - before;
      }
      queues = queues.filter(([, bodies]) => bodies.length > turn + 1);
    }
  }

  /** @param otherBytes demands of the other owners */
  private hasRoom(body: HeldBody, otherBytes: number): boolean {
    const { demandBytes, admittedCount } = body.owner;
    const bytes = demandBytes + body.wantedBytes;
    const fits = bytes <= this.shareBytes || admittedCount === 0;
    return (fits && otherBytes + bytes <= this.limitBytes) || this.tryExempt(body);
  }

  private start(body: HeldBody): void {
    const { owner } = body;
    if (!body.resumeIfRoom()) return;
    owner.admittedCount++;
    owner.demandBytes += this.demandOf(body);
  }

  private sumDemands(): number {
    for (const owner of this.owners.values()) Object.assign(owner, { demandBytes: 0, admittedCount: 0 });
    for (const body of this.bodies) {
      if (!body.isAdmitted) continue;
      body.owner.admittedCount++;
      body.owner.demandBytes += this.demandOf(body);
    }
    let bytes = 0;
    for (const owner of this.owners.values()) bytes += this.cappedDemand(owner);
    return bytes;
  }

  private demandOf(body: HeldBody): number {
    if (body === this.exempt || !body.isActive) return body.chargedBytes;
    return Math.max(body.wantedBytes, body.chargedBytes);
  }

  /** The demand of an owner keeps no more than a share from other owners. */
  private cappedDemand({ demandBytes, chargedBytes }: BodyOwner): number {
    return Math.min(demandBytes, Math.max(this.shareBytes, chargedBytes));
  }

  /** Makes the body the exempt one if that is possible. */
  private tryExempt(body: HeldBody): boolean {
    if (this.exempt) return this.exempt === body;
    const isOldest = body === first(this.bodies) || (body.isAdmitted && body === first(body.owner.bodies));
    if (isOldest) this.exempt = body;
    return isOldest;
  }

  /** Ticks are at least a second long, and include the bytes that arrived while the event loop was busy. */
  private startTicking(): void {
    if (this.isTicking) return;
    this.isTicking = true;
    const tick = () => {
      this.isTicking = false;
      this.tick();
      if (this.bodies.size > 0) this.startTicking();
    };
    setTimeout(() => setImmediate(tick), TICK_MS).unref();
  }
}

/** Size of a body as its request announces it. */
export interface BodySize {
  /** Content-Length; the maximum size if the body is chunked. */
  readonly wantedBytes: number;
  readonly arrivedBytes: number;
}

const EMPTY_ACCOUNT = { chargedBytes: 0, demandBytes: 0, admittedCount: 0 };

function first<T>(set: ReadonlySet<T>): T | undefined {
  const [value] = set;
  return value;
}
