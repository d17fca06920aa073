import { createSecretKey } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import type { CryptoKey, FlattenedJWSInput, JWTHeaderParameters, JWTPayload, KeyObject } from 'jose';
import { EMAIL_MAX_LENGTH, isStorableText } from '../common/text.js';
import { HS256_SECRET_MIN_BYTES, Settings } from '../config/settings.js';
import { IdentityProviderUnavailable, NoValidSession } from './auth.errors.js';
import { IdentityProviderKeys } from './identity-provider-keys.js';
import type { SessionUser } from './session-user.js';

export const CLOCK_LEEWAY_SECONDS = 30;
const SECRET_ALGORITHM = 'HS256';
const PUBLIC_KEY_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** OpenID Connect Core, section 2: a `sub` has at most 255 characters. */
const SUBJECT_MAX_LENGTH = 255;

/** A session that was found to be good. */
export interface VerifiedSession {
  readonly user: SessionUser;
  /** Unix time in seconds; the session passes for {@link CLOCK_LEEWAY_SECONDS} longer. */
  readonly expiresAt: number;
}

/** Decides whether a token is a session of ours (`api.md`, section 3). */
@Injectable()
export class SessionVerifier {
  private readonly secret?: KeyObject;
  private readonly provider?: IdentityProviderKeys;

  constructor(private readonly settings: Settings) {
    const { hs256Secret, jwksUrl } = settings.session;
    this.secret = hs256Secret && createSecretKey(hs256Secret);
    if (hs256Secret && hs256Secret.length < HS256_SECRET_MIN_BYTES) {
      const logger = new Logger(SessionVerifier.name);
      logger.warn(`SESSION_JWT_SECRET has fewer than ${HS256_SECRET_MIN_BYTES} bytes: production refuses it`);
    }
    this.provider = jwksUrl && new IdentityProviderKeys(jwksUrl);
  }

  /**
   * @throws NoValidSession whatever is wrong with the token
   * @throws IdentityProviderUnavailable when that cannot be told
   */
  async verify(token: string): Promise<VerifiedSession> {
    try {
      const { payload } = await jwtVerify(token, (header, jws) => this.keyFor(header, jws), {
        algorithms: [SECRET_ALGORITHM, ...PUBLIC_KEY_ALGORITHMS],
        issuer: this.settings.session.issuer,
        audience: this.settings.session.audience,
        clockTolerance: CLOCK_LEEWAY_SECONDS,
        requiredClaims: ['exp'],
      });
      return toSession(payload);
    } catch (error) {
      if (error instanceof IdentityProviderUnavailable) throw error;
      throw new NoValidSession();
    }
  }

  /** The algorithm decides which kind of key is asked: a public key never serves as an HS256 secret. */
  private async keyFor(header: JWTHeaderParameters, jws: FlattenedJWSInput): Promise<CryptoKey | KeyObject> {
    const key = header.alg === SECRET_ALGORITHM ? this.secret : await this.provider?.find(header, jws);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}

function toSession({ sub, email, email_verified, exp }: JWTPayload): VerifiedSession {
  if (!isIdentity(sub, SUBJECT_MAX_LENGTH) || !isIdentity(email, EMAIL_MAX_LENGTH))
    throw new NoValidSession();
  return { user: { id: sub, email, emailVerified: isVerified(email_verified) }, expiresAt: exp! };
}

/** Providers that know verified addresses only leave the claim out; some send it as text. */
function isVerified(claim: unknown): boolean {
  return claim === undefined || claim === true || claim === 'true';
}

function isIdentity(claim: unknown, maxLength: number): claim is string {
  return (
    typeof claim === 'string' && claim.trim() !== '' && claim.length <= maxLength && isStorableText(claim)
  );
}
