import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Invalidations } from '../../database/invalidation/invalidations.js';
import { KeyAuthenticator } from '../../keys/key-authenticator.js';
import type { AuthenticatedKey } from '../../keys/key-authenticator.js';
import type { ProxyErrorCode } from '../errors/proxy-error.js';

/** Interval in which keys are verified again, because they expire and the database may be away for too long. */
const CHECK_INTERVAL_MS = 5_000;

/** Connection whose key is verified as long as it is open. */
export interface KeyHolder {
  readonly secret: string;
  /** The key is being verified: no message must pass until {@link onKey}. */
  onVerification(): void;
  /** The key is still valid; its limits may be others. */
  onKey(key: AuthenticatedKey): void;
  /** The key is not valid any more, or cannot be verified. */
  onKeyLost(code: ProxyErrorCode): void;
}

/**
 * Verifies the keys of open WebSockets: after each change of keys or limits, after a gap in the notifications, and at
 * intervals. A connection whose key was revoked is closed. Most verifications need no query, because keys are cached.
 */
@Injectable()
export class OpenWebSockets implements OnApplicationShutdown {
  /** Connections by the secret of their key. */
  private readonly holders = new Map<string, Set<KeyHolder>>();
  /** Secrets whose verification is under way, and whether it has to be repeated. */
  private readonly running = new Map<string, { isOutdated: boolean }>();
  private readonly timer = setInterval(() => this.verifyAll(), CHECK_INTERVAL_MS).unref();

  constructor(
    private readonly keys: KeyAuthenticator,
    invalidations: Invalidations,
  ) {
    const verifyAll = () => this.verifyAll();
    invalidations.on(verifyAll, verifyAll);
  }

  /** Adds a connection and verifies its key, which may have been revoked during the handshake. */
  add(holder: KeyHolder): void {
    const holders = this.holders.get(holder.secret) ?? new Set();
    holders.add(holder);
    this.holders.set(holder.secret, holders);
    if (this.running.has(holder.secret)) holder.onVerification();
    this.verify(holder.secret);
  }

  remove(holder: KeyHolder): void {
    const holders = this.holders.get(holder.secret);
    holders?.delete(holder);
    if (holders?.size === 0) this.holders.delete(holder.secret);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private verifyAll(): void {
    for (const secret of [...this.holders.keys()]) this.verify(secret);
  }

  private verify(secret: string): void {
    const running = this.running.get(secret);
    if (running) {
      running.isOutdated = true;
      return;
    }
    const key = this.keys.authenticate(secret);
    if (!(key instanceof Promise)) return this.apply(secret, key);
    const verification = { isOutdated: false };
    this.running.set(secret, verification);
    for (const holder of this.holders.get(secret) ?? []) holder.onVerification();
    const finish = (apply: () => void) => {
      this.running.delete(secret);
      if (verification.isOutdated) this.verify(secret);
      else apply();
    };
    key.then(
      (found) => finish(() => this.apply(secret, found)),
      () => finish(() => this.lose(secret, 'database_unavailable')),
    );
  }

  private apply(secret: string, key: AuthenticatedKey | undefined): void {
    if (!key) return this.lose(secret, 'invalid_proxy_key');
    for (const holder of this.holders.get(secret) ?? []) holder.onKey(key);
  }

  private lose(secret: string, code: ProxyErrorCode): void {
    for (const holder of [...(this.holders.get(secret) ?? [])]) holder.onKeyLost(code);
  }
}
