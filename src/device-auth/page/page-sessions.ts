import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { NoValidSession } from '../../auth/auth.errors.js';
import type { SessionUser } from '../../auth/session-user.js';
import { SessionsService } from '../../auth/sessions.service.js';
import { Encryption } from '../../common/crypto/encryption.js';
import { tokenHash } from '../../common/crypto/secret-token.js';
import { Settings } from '../../config/settings.js';
import { clientAddress } from '../flow/client-address.js';
import { BY_FORM_PARAMETER, DevicePageUrls } from '../flow/device-page-urls.js';
import { SESSION_SECONDS } from '../flow/device-flow.js';
import { CsrfFailed, RedirectToSignIn, SignInRequired } from '../flow/device-auth.errors.js';
import { parseUserCode } from '../flow/user-codes.js';

/** Cookie of a browser that was sent to a sign-in page of another site. Its value has no meaning. */
const MARKER = 'mintkeep_sign_in';

/** Session of a signed-in browser. */
export interface PageSession {
  readonly user: SessionUser;
  /** IP address. */
  readonly address: string;
  /** Token that forms of this session must carry. */
  readonly csrfToken: string;
  /** @throws CsrfFailed if the token is not {@link csrfToken} */
  assertForm(csrfToken: string | null): void;
}

/** Sessions of browsers. Only the pages of the device flow accept a session in a cookie. */
@Injectable()
export class PageSessions {
  private readonly csrfKeys: readonly Buffer[];

  constructor(
    private readonly sessions: SessionsService,
    private readonly settings: Settings,
    private readonly urls: DevicePageUrls,
    encryption: Encryption,
  ) {
    this.csrfKeys = encryption.derive('csrf');
  }

  /**
   * @param userCode code to reopen the page with, after the sign-in or after a form of an older session; may be empty
   * @throws SignInRequired @throws IdentityProviderUnavailable
   */
  async authenticate(request: Request, userCode: string): Promise<PageSession> {
    const token = findCookie(request, this.settings.session.cookieName) ?? '';
    const user = await this.resolve(token);
    if (!user) throw this.signInRequired(request, userCode);
    const csrfTokens = this.csrfKeys.map((key) => createCsrfToken(token, key));
    return {
      user,
      address: clientAddress(request),
      csrfToken: csrfTokens[0]!,
      assertForm: (given) => {
        if (!csrfTokens.some((csrfToken) => timingSafeTextEqual(csrfToken, given ?? '')))
          throw new CsrfFailed(parseUserCode(userCode));
      },
    };
  }

  /**
   * Redirects to the sign-in, except after a form. Browsers apply the page's `form-action` policy to every redirect that
   * follows a form, and a sign-in may redirect to any host.
   *
   * A sign-in page of another site may return with the session in the fragment, which the service does not see. A
   * browser that was there and has no session is therefore redirected to the dashboard. Browsers keep the fragment.
   */
  private signInRequired(request: Request, userCode: string): SignInRequired {
    const dashboard = this.urls.dashboardSignIn(userCode);
    const marker = dashboard === undefined ? undefined : this.marker;
    const wasAway = findCookie(request, MARKER) !== undefined;
    const location = (wasAway ? dashboard : undefined) ?? this.urls.signInPage(userCode);
    return location === undefined || isFormSubmission(request)
      ? new SignInRequired(location, marker)
      : new RedirectToSignIn(location, marker);
  }

  /** Cookie that lives as long as a code. */
  private get marker(): string {
    const secure = this.settings.publicUrl.startsWith('https:') ? '; Secure' : '';
    return `${MARKER}=1; Path=${this.urls.path}; Max-Age=${SESSION_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
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

function isFormSubmission({ method, query }: Request): boolean {
  return method === 'POST' || query[BY_FORM_PARAMETER] !== undefined;
}

function findCookie(request: Request, name: string): string | undefined {
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

function createCsrfToken(sessionToken: string, key: Buffer): string {
  return createHmac('sha256', key).update(tokenHash(sessionToken)).digest('base64url');
}

function timingSafeTextEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
