import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CLOCK_LEEWAY_SECONDS, SessionVerifier } from './session-verifier.js';
import type { VerifiedSession } from './session-verifier.js';
import type { SessionUser } from './session-user.js';
import { UsersService } from './users.service.js';

const CACHED_SESSIONS = 10_000;
/** Time for which a verified token is accepted without another check of its signature and user. */
const CACHE_TTL_MS = 60_000;

/** Resolves tokens to users, and caches verified tokens for a minute. */
@Injectable()
export class SessionsService {
  private readonly cache = new LRUCache<string, VerifiedSession>({ max: CACHED_SESSIONS, ttl: CACHE_TTL_MS });

  constructor(
    private readonly verifier: SessionVerifier,
    private readonly users: UsersService,
  ) {}

  /** The user of a token that was verified within the last minute and has not expired since. */
  findCached(token: string): SessionUser | undefined {
    return this.findSession(token)?.user;
  }

  /** Records the user of a token that was just verified. */
  async accept(token: string, session: VerifiedSession): Promise<SessionUser> {
    await this.users.createOrUpdate(session.user);
    this.cache.set(token, session);
    return session.user;
  }

  /** The user of any token. @throws NoValidSession @throws IdentityProviderUnavailable */
  async resolve(token: string): Promise<SessionUser> {
    return (await this.resolveSession(token)).user;
  }

  /** The session of any token. @throws NoValidSession @throws IdentityProviderUnavailable */
  async resolveSession(token: string): Promise<VerifiedSession> {
    const found = this.findSession(token);
    if (found) return found;
    const session = await this.verifier.verify(token);
    await this.accept(token, session);
    return session;
  }

  private findSession(token: string): VerifiedSession | undefined {
    const session = this.cache.get(token);
    const isValid = session && Date.now() / 1_000 < session.expiresAt + CLOCK_LEEWAY_SECONDS;
    return isValid ? session : undefined;
  }
}
