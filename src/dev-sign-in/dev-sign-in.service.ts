import { createSecretKey, hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SignJWT } from 'jose';
import { emailKey } from '../common/text/text.js';
import { Settings } from '../config/settings.js';

/** Lifetime of a session of the development sign-in. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;
const PATH = /^\/(?![/\\])/;
const ADDRESS = /^https?:\/\//i;

/** Identity provider for development: it signs in every address without a password. */
@Injectable()
export class DevSignInService {
  constructor(private readonly settings: Settings) {}

  /** Creates a session token. The same address always gives the same user. */
  async createSession(email: string): Promise<string> {
    const { hs256Secret, issuer, audience, requireEmailVerified } = this.settings.session;
    const jwt = new SignJWT(requireEmailVerified ? { email, email_verified: true } : { email })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(`dev_${hash('sha256', emailKey(email), 'hex').slice(0, 24)}`)
      .setIssuedAt()
      .setExpirationTime(`${SESSION_SECONDS}s`);
    if (issuer !== undefined) jwt.setIssuer(issuer);
    if (audience !== undefined) jwt.setAudience(audience);
    return jwt.sign(createSecretKey(hs256Secret!));
  }

  /**
   * Target of the redirect after the sign-in: a page of this service or of the dashboard; undefined for any other URL.
   * A path stays a path, because the cookie is bound to the host name that the browser uses. The target is parsed as
   * browsers parse it: they drop tabs, for example, which turns `/<tab>/host` into another host.
   */
  resolveReturnTo(target: string | null): string | undefined {
    const { publicUrl, dashboardUrl } = this.settings;
    const isPath = PATH.test(target ?? '');
    if (target === null || !(isPath || ADDRESS.test(target)) || !URL.canParse(target, publicUrl))
      return undefined;
    const { origin, username, password, href } = new URL(target, publicUrl);
    const isOurs = [publicUrl, dashboardUrl].some((url) => new URL(url).origin === origin);
    if (!isOurs || username !== '' || password !== '') return undefined;
    return isPath ? target : href;
  }
}
