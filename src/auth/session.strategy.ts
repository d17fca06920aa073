import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { SessionVerifier } from './session-verifier.js';
import type { VerifiedSession } from './session-verifier.js';

export const SESSION_STRATEGY = 'session';

type Callback = (error: unknown, payload?: VerifiedSession) => void;

/**
 * passport-jwt with jose as its verifier, because its own dependency jsonwebtoken does not support EdDSA. The
 * {@link SessionVerifier} is passed in place of the key.
 */
@Injectable()
export class SessionStrategy extends PassportStrategy(Strategy, SESSION_STRATEGY) {
  constructor(verifier: SessionVerifier) {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKeyProvider: (_request, _token, done) => done(null, verifier as unknown as string),
    });
  }

  validate(session: VerifiedSession): VerifiedSession {
    return session;
  }
}

(Strategy as unknown as { JwtVerifier: unknown }).JwtVerifier = (
  token: string,
  verifier: SessionVerifier,
  _options: unknown,
  done: Callback,
): void => {
  verifier.verify(token).then((session) => done(null, session), done);
};
