import { createSecretKey } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import type { CryptoKey, FlattenedJWSInput, JWTHeaderParameters, JWTPayload, KeyObject } from 'jose';
import { EMAIL_MAX_LENGTH, isStorableText } from '../common/text/text.js';
import { HS256_SECRET_MIN_BYTES, Settings } from '../config/settings.js';
import type { SessionSettings } from '../config/settings.js';
import { IdentityProviderUnavailable, NoValidSession } from './auth.errors.js';
import { IdentityProviderKeys } from './identity-provider-keys.js';
import type { SessionUser } from './session-user.js';

export const CLOCK_LEEWAY_SECONDS = 30;
const SECRET_ALGORITHM = 'HS256';
const PUBLIC_KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** OpenID Connect Core, section 2: a `sub` has at most 255 characters. */
const SUBJECT_MAX_LENGTH = 255;

/** A session whose token was verified. */
export interface VerifiedSession {
  readonly user: SessionUser;
  /** Unix time in seconds. The session is accepted for {@link CLOCK_LEEWAY_SECONDS} longer. */
  readonly expiresAt: number;
}

/** Verifies session tokens: signature, issuer, audience, expiry, `sub` and `email`. */
@Injectable()
export class SessionVerifier {
  private readonly secret?: KeyObject;
  private readonly provider?: IdentityProviderKeys;

  constructor(private readonly settings: Settings) {
    const { hs256Secret, jwksUrl } = settings.session;
    this.secret = hs256Secret && createSecretKey(hs256Secret);
    if (hs256Secret && hs256Secret.length < HS256_SECRET_MIN_BYTES) {
      const logger = new Logger(SessionVerifier.name);
      logger.warn(
        `SESSION_JWT_SECRET has fewer than ${HS256_SECRET_MIN_BYTES} bytes; production rejects such a secret`,
      );
    }
    this.provider = jwksUrl && new IdentityProviderKeys(jwksUrl);
  }

  /**
   * @throws NoValidSession for every defect of the token
   * @throws IdentityProviderUnavailable if the token cannot be verified
   */
  async verify(token: string): Promise<VerifiedSession> {
    try {
      const { payload } = await jwtVerify(token, (header, jws) => this.findKey(header, jws), {
        algorithms: [SECRET_ALGORITHM, ...PUBLIC_KEY_ALGORITHMS],
        issuer: this.settings.session.issuer,
        audience: this.settings.session.audience,
        clockTolerance: CLOCK_LEEWAY_SECONDS,
        requiredClaims: ['exp'],
      });
      return toSession(payload, this.settings.session);
    } catch (error) {
      if (error instanceof IdentityProviderUnavailable) throw error;
      throw new NoValidSession();
    }
  }

  /** Chooses the kind of key by the algorithm, so that a public key never serves as an HS256 secret. */
  private async findKey(header: JWTHeaderParameters, jws: FlattenedJWSInput): Promise<CryptoKey | KeyObject> {
    const key = header.alg === SECRET_ALGORITHM ? this.secret : await this.provider?.find(header, jws);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}

function toSession(
  { sub, email, email_verified, exp }: JWTPayload,
  { requireEmailVerified }: SessionSettings,
): VerifiedSession {
  if (!isIdentity(sub, SUBJECT_MAX_LENGTH) || !isIdentity(email, EMAIL_MAX_LENGTH))
    throw new NoValidSession();
  const emailVerified = isVerified(email_verified, requireEmailVerified);
  return { user: { id: sub, email, emailVerified }, expiresAt: exp! };
}

/**
 * Whether the address is verified. Providers that verify every address may omit the claim. Some providers send the
 * claim as text.
 */
function isVerified(claim: unknown, required: boolean): boolean {
  return claim === true || claim === 'true' || (claim === undefined && !required);
}

function isIdentity(claim: unknown, maxLength: number): claim is string {
  return (
    typeof claim === 'string' && claim.trim() !== '' && claim.length <= maxLength && isStorableText(claim)
  );
}
