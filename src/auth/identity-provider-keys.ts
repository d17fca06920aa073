import { Logger } from '@nestjs/common';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, flattenedVerify } from 'jose';
import type {
  CryptoKey,
  FetchImplementation,
  FlattenedJWSInput,
  JSONWebKeySet,
  JWSHeaderParameters,
} from 'jose';
import { errorMessage } from '../common/logging/error-message.js';
import { IdentityProviderUnavailable } from './auth.errors.js';

const FETCH_TIMEOUT_MS = 5_000;
/** Minimum time between two refetches for unknown keys. */
const REFETCH_INTERVAL_MS = 30_000;
/** Maximum age of the keys, so that a withdrawn key stops working. */
const MAX_AGE_MS = 600_000;

/** Public keys of the identity provider (JWKS, RFC 7517). Stale keys stay in use while the provider is down. */
export class IdentityProviderKeys {
  private readonly logger = new Logger(IdentityProviderKeys.name);
  private readonly keys;
  /** The last valid key set, as JSON. */
  private keySet?: string;
  private refetchedAt = -Infinity;

  constructor(url: URL) {
    this.keys = createRemoteJWKSet(url, {
      timeoutDuration: FETCH_TIMEOUT_MS,
      cacheMaxAge: MAX_AGE_MS,
      // jose starts its cooldown with the first fetch: a key added right after it would stay unknown for 30 s.
      cooldownDuration: Infinity,
      [customFetch]: (...request) => this.fetch(...request),
    });
  }

  /**
   * The key that verifies a token with this header.
   * @throws IdentityProviderUnavailable if no key set is available
   * @throws errors.JWKSNoMatchingKey if the provider has no such key
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    try {
      return await this.findCached(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (this.keys.reloading || this.isRefetchDue()) await this.keys.reload(); // joins a fetch in flight
      return this.findCached(header, token);
    }
  }

  private isRefetchDue(): boolean {
    return performance.now() - this.refetchedAt >= REFETCH_INTERVAL_MS;
  }

  private async findCached(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    try {
      return await this.keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      return findSigner(token, error);
    }
  }

  /** Fetches the key set. If that fails, the previous one serves for another {@link MAX_AGE_MS}. */
  private async fetch(...[url, options]: Parameters<FetchImplementation>): Promise<Response> {
    if (this.keySet !== undefined) this.refetchedAt = performance.now();
    try {
      const response = await fetch(url, { ...options, redirect: 'follow' });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const text = await response.text();
      createLocalJWKSet(JSON.parse(text) as JSONWebKeySet); // throws unless it is a key set
      this.keySet = text;
    } catch (error) {
      this.logger.warn(
        { reason: errorMessage(error) },
        'the keys of the identity provider cannot be fetched',
      );
      if (this.keySet === undefined) throw new IdentityProviderUnavailable();
    }
    return new Response(this.keySet);
  }
}

/**
 * Among several matching keys, the one that signed a token without a `kid`. RFC 7515, section 4.1.4, makes the `kid`
 * optional.
 */
async function findSigner(token: FlattenedJWSInput, keys: AsyncIterable<CryptoKey>): Promise<CryptoKey> {
  for await (const key of keys) {
    const isSigner = await flattenedVerify(token, key).then(
      () => true,
      () => false,
    );
    if (isSigner) return key;
  }
  throw new errors.JWKSNoMatchingKey();
}
