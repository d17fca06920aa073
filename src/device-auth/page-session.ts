import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { NoValidSession } from '../auth/auth.errors.js';
import type { SessionUser } from '../auth/session-user.js';
import { SessionsService } from '../auth/sessions.service.js';
import { Encryption } from '../common/encryption.js';
import { tokenHash } from '../common/secret-token.js';
import { Settings } from '../config/settings.js';
import { clientAddress } from './client-address.js';
import { BY_FORM, DeviceAddresses } from './device-addresses.js';
import { CsrfFailed, SentToSignIn, SignInNeeded } from './device-auth.errors.js';
import { parseUserCode } from './user-codes.js';

/** A browser that somebody is signed in with. */
export interface PageSession {
  readonly user: SessionUser;
  /** IP address. */
  readonly address: string;
  /** What forms of this session carry. */
  readonly csrfToken: string;
  /** @throws CsrfFailed when a form does not carry it */
  assertForm(csrfToken: string | null): void;
}

/** Sessions of browsers: here, and only here, they come in a cookie. */
@Injectable()
export class PageSessions {
  private readonly csrfKeys: readonly Buffer[];

  constructor(
    private readonly sessions: SessionsService,
    private readonly settings: Settings,
    private readonly addresses: DeviceAddresses,
    encryption: Encryption,
  ) {
    this.csrfKeys = encryption.derive('csrf');
  }

  /**
   * @param userCode what to come back with, from the sign-in or a form of a session of before; empty for nothing
   * @throws SignInNeeded @throws IdentityProviderUnavailable
   */
  async of(request: Request, userCode: string): Promise<PageSession> {
    const token = cookieOf(request, this.settings.session.cookieName) ?? '';
    const user = await this.resolve(token);
    if (!user) throw this.signInNeeded(request, userCode);
    const csrfTokens = this.csrfKeys.map((key) => csrfTokenOf(token, key));
    return {
      user,
      address: clientAddress(request),
      csrfToken: csrfTokens[0]!,
      assertForm: (given) => {
        if (!csrfTokens.some((csrfToken) => isSame(csrfToken, given ?? '')))
          throw new CsrfFailed(parseUserCode(userCode));
      },
    };
  }

  /** Browsers hold every redirect behind a form against its page's policy, and a sign-in may redirect anywhere. */
  private signInNeeded(request: Request, userCode: string): SignInNeeded {
    const location = this.addresses.signIn(userCode);
    return location === undefined || isOfForm(request)
      ? new SignInNeeded(location)
      : new SentToSignIn(location);
  }

  private async resolve(token: string): Promise<SessionUser | undefined> {
    try {
      return await this.sessions.resolve(token);
    } catch (error) {
      if (error instanceof NoValidSession) return undefined;
      throw error;
    }
  }
}

function isOfForm({ method, query }: Request): boolean {
  return method === 'POST' || query[BY_FORM] !== undefined;
}

function cookieOf(request: Request, name: string): string | undefined {
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

function csrfTokenOf(sessionToken: string, key: Buffer): string {
  return createHmac('sha256', key).update(tokenHash(sessionToken)).digest('base64url');
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
