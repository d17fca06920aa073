import { Injectable } from '@nestjs/common';
import type { HttpResponse } from '../common/http-exchange.js';
import { Settings } from '../config/settings.js';

const MINUTE_MS = 60_000;
/** What grows in fractions may end up short of a whole. */
const ALMOST_ONE = 1 - 1e-6;

/** Requests that a key may make at once. */
interface Allowance {
  left: number;
  /** When that was so, as `performance.now()` has it. */
  at: number;
}

/** What one key may ask of this replica. In memory: a limit for all replicas would ask the database every time. */
@Injectable()
export class KeyLimits {
  private readonly openStreams = new Map<number, number>();
  /**
   * Of the keys that were used since {@link turnedAt}, and in the minute before. Who was not used for a minute has
   * the whole allowance again, and can be forgotten.
   */
  private allowances = new Map<number, Allowance>();
  private olderAllowances = new Map<number, Allowance>();
  private turnedAt = -Infinity;
  private readonly streamsPerKey: number;
  private readonly requestsPerMinute: number;

  constructor({ proxyStreamsPerKey, proxyRequestsPerMinute }: Settings) {
    this.streamsPerKey = proxyStreamsPerKey;
    this.requestsPerMinute = proxyRequestsPerMinute;
  }

  /**
   * Counts a request.
   * @param now as `performance.now()` has it
   * @returns 0, or after how many whole seconds there is room for it; then it does not count
   */
  secondsToWait(keyId: number, now: number): number {
    if (this.requestsPerMinute === 0) return 0;
    const allowance = this.allowanceOf(keyId, now);
    if (allowance.left >= ALMOST_ONE) {
      allowance.left--;
      return 0;
    }
    return Math.ceil(((1 - allowance.left) * MINUTE_MS) / this.requestsPerMinute / 1_000);
  }

  /**
   * Counts a stream until its response is closed, however that comes about.
   * @param response is not closed yet
   * @returns whether there was room for it
   */
  admitsStream(keyId: number, response: HttpResponse): boolean {
    if (this.streamsPerKey === 0) return true;
    const open = this.openStreams.get(keyId) ?? 0;
    if (open >= this.streamsPerKey) return false;
    this.openStreams.set(keyId, open + 1);
    response.once('close', () => this.streamClosed(keyId));
    return true;
  }

  private streamClosed(keyId: number): void {
    const open = this.openStreams.get(keyId)! - 1;
    if (open === 0) this.openStreams.delete(keyId);
    else this.openStreams.set(keyId, open);
  }

  private allowanceOf(keyId: number, now: number): Allowance {
    if (now - this.turnedAt >= MINUTE_MS) this.turn(now);
    const { requestsPerMinute } = this;
    let allowance = this.allowances.get(keyId);
    if (!allowance) {
      allowance = this.olderAllowances.get(keyId) ?? { left: requestsPerMinute, at: now };
      this.allowances.set(keyId, allowance);
    }
    const grown = allowance.left + ((now - allowance.at) * requestsPerMinute) / MINUTE_MS;
    allowance.left = Math.min(grown, requestsPerMinute);
    allowance.at = now;
    return allowance;
  }

  private turn(now: number): void {
    this.olderAllowances = this.allowances;
    this.allowances = new Map();
    this.turnedAt = now;
  }
}
