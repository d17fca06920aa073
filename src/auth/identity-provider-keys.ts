import { Logger } from '@nestjs/common';
import { createLocalJWKSet, errors, flattenedVerify } from 'jose';
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { messagesOf } from '../common/messages-of.js';
import { IdentityProviderUnavailable } from './auth.errors.js';

const FETCH_TIMEOUT_MS = 5_000;
/** At most one fetch in this time, whatever tokens arrive, once there are keys; one after the other before. */
const REFETCH_INTERVAL_MS = 30_000;
/** Keys older than this are fetched anew in the background, so that a withdrawn key stops working. */
const REFRESH_AFTER_MS = 600_000;

type KeySet = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/**
 * The identity provider's public keys (JWKS, RFC 7517): cached; fetched again for an unknown `kid`, but at
 * most every 30 s; the ones at hand stay in use while the provider is down.
 */
export class IdentityProviderKeys {
  private readonly logger = new Logger(IdentityProviderKeys.name);
  private keys?: KeySet;
  private fetchedAt = -Infinity;
  private refetchedAt = -Infinity;
  private pending?: Promise<void>;

  constructor(
    private readonly url: URL,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The key that verifies a token with this header.
   * @throws IdentityProviderUnavailable when there are no keys to look in
   * @throws errors.JWKSNoMatchingKey when the provider has no such key
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (!this.keys) await this.fetchIfDue();
    else if (this.now() - this.fetchedAt > REFRESH_AFTER_MS) void this.fetchIfDue();
    if (!this.keys) throw new IdentityProviderUnavailable();
    try {
      return await this.keyFor(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.fetchIfDue();
      return this.keyFor(header, token);
    }
  }

  private async keyFor(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    try {
      return await this.keys!(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      return signerOf(token, error);
    }
  }

  private fetchIfDue(): Promise<void> {
    if (this.pending) return this.pending;
    if (this.keys) {
      if (this.now() - this.refetchedAt < REFETCH_INTERVAL_MS) return Promise.resolve();
      this.refetchedAt = this.now();
    }
    this.pending = this.fetch().finally(() => (this.pending = undefined));
    return this.pending;
  }

  /** Keeps the old keys when there are no new ones to be had. */
  private async fetch(): Promise<void> {
    try {
      const response = await fetch(this.url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
      if (!response.ok) throw new Error(`status ${response.status}`);
      this.keys = createLocalJWKSet((await response.json()) as JSONWebKeySet);
      this.fetchedAt = this.now();
    } catch (error) {
      this.logger.warn({ reason: messagesOf(error) }, 'the keys of the identity provider cannot be fetched');
    }
  }
}

/** Of the keys that fit a token without a `kid` (RFC 7515, section 4.1.4, does not ask for one), the one that signed it. */
async function signerOf(token: FlattenedJWSInput, keys: AsyncIterable<CryptoKey>): Promise<CryptoKey> {
  for await (const key of keys) {
    const isSigner = await flattenedVerify(token, key).then(
      () => true,
      () => false,
    );
    if (isSigner) return key;
  }
  throw new errors.JWKSNoMatchingKey();
}
