import { Injectable } from '@nestjs/common';
import type { HttpResponse } from '../../http/http-exchange.js';
import { Settings } from '../../config/settings.js';

const MINUTE_MS = 60_000;
/** A refill by fractions may miss the whole number by a rounding error. */
const ONE_TOKEN = 1 - 1e-6;

/**
 * Limits of each key at this replica: requests per minute, by a token bucket, and open streams. The counters are in
 * memory, because a limit across replicas would cost a database query per request.
 */
@Injectable()
export class KeyLimits {
  private readonly openStreams = new Map<number, number>();
  /** Buckets of the keys that were used since {@link rotatedAt}. */
  private buckets = new Map<number, TokenBucket>();
  /** Buckets of the minute before. The bucket of a key that was idle for a minute is full again and can be dropped. */
  private previousBuckets = new Map<number, TokenBucket>();
  private rotatedAt = -Infinity;
  private readonly streamsPerKey: number;
  private readonly requestsPerMinute: number;

  constructor({ proxyStreamsPerKey, proxyRequestsPerMinute }: Settings) {
    this.streamsPerKey = proxyStreamsPerKey;
    this.requestsPerMinute = proxyRequestsPerMinute;
  }

  /**
   * Takes a token for one request.
   * @param now time of `performance.now()`
   * @returns 0 if a token was taken; otherwise the whole seconds until one is available
   */
  takeRequestToken(keyId: number, now: number): number {
    if (this.requestsPerMinute === 0) return 0;
    const bucket = this.refillBucket(keyId, now);
    if (bucket.tokens >= ONE_TOKEN) {
      bucket.tokens--;
      return 0;
    }
    return Math.ceil(((1 - bucket.tokens) * MINUTE_MS) / this.requestsPerMinute / 1_000);
  }

  /**
   * Counts a stream until its response is closed.
   * @param response must not be closed yet
   * @returns false if the key is at its limit; the stream is not counted then
   */
  tryOpenStream(keyId: number, response: HttpResponse): boolean {
    if (this.streamsPerKey === 0) return true;
    const open = this.openStreams.get(keyId) ?? 0;
    if (open >= this.streamsPerKey) return false;
    this.openStreams.set(keyId, open + 1);
    response.once('close', () => this.onStreamClose(keyId));
    return true;
  }

  private onStreamClose(keyId: number): void {
    const open = this.openStreams.get(keyId)! - 1;
    if (open === 0) this.openStreams.delete(keyId);
    else this.openStreams.set(keyId, open);
  }

  private refillBucket(keyId: number, now: number): TokenBucket {
    if (now - this.rotatedAt >= MINUTE_MS) this.rotate(now);
    const { requestsPerMinute } = this;
    let bucket = this.buckets.get(keyId);
    if (!bucket) {
      bucket = this.previousBuckets.get(keyId) ?? { tokens: requestsPerMinute, updatedAt: now };
      this.buckets.set(keyId, bucket);
    }
    const refilled = bucket.tokens + ((now - bucket.updatedAt) * requestsPerMinute) / MINUTE_MS;
    bucket.tokens = Math.min(refilled, requestsPerMinute);
    bucket.updatedAt = now;
    return bucket;
  }

  private rotate(now: number): void {
    this.previousBuckets = this.buckets;
    this.buckets = new Map();
    this.rotatedAt = now;
  }
}

interface TokenBucket {
  tokens: number;
  /** Time of the last refill, by `performance.now()`. */
  updatedAt: number;
}
