import { createSecretKey, hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SignJWT } from 'jose';
import { emailKey } from '../common/text.js';
import { Settings } from '../config/settings.js';

/** How long a session of the development sign-in lasts. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;
const PATH = /^\/(?![/\\])/;
const ADDRESS = /^https?:\/\//i;

/** An identity provider that believes everybody. */
@Injectable()
export class DevSignInService {
  constructor(private readonly settings: Settings) {}

  /** A session for whoever has this address; the same user every time. */
  async signIn(email: string): Promise<string> {
    const { hs256Secret, issuer, audience } = this.settings.session;
    const jwt = new SignJWT({ email })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(`dev_${hash('sha256', emailKey(email), 'hex').slice(0, 24)}`)
      .setIssuedAt()
      .setExpirationTime(`${SESSION_SECONDS}s`);
    if (issuer !== undefined) jwt.setIssuer(issuer);
    if (audience !== undefined) jwt.setAudience(audience);
    return jwt.sign(createSecretKey(hs256Secret!));
  }

  /**
   * Where a browser may be sent after it has signed in: to us or to the dashboard, nowhere else. A path stays
   * a path, because the cookie is there only under the name that the browser has for this machine. Parsing
   * shows what browsers make of it: they drop tabs, for one, which turns `/<tab>/host` into another host.
   */
  returnTo(target: string | null): string | undefined {
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
