import { createSecretKey, hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SignJWT } from 'jose';
import { emailKey } from '../common/text.js';
import { Settings } from '../config/settings.js';

/** How long a session of the development sign-in lasts. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;

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

  /** Where a browser may be sent after it has signed in: to us or to the dashboard, nowhere else. */
  returnTo(target: string | null): string | undefined {
    const { publicUrl, dashboardUrl } = this.settings;
    if (target === null || !URL.canParse(target, publicUrl)) return undefined;
    const url = new URL(target, publicUrl);
    const origins = [new URL(publicUrl).origin, new URL(dashboardUrl).origin];
    return origins.includes(url.origin) ? url.href : undefined;
  }
}
