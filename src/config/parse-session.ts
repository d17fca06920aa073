import type { Environment } from './environment.js';
import { HS256_SECRET_MIN_BYTES } from './settings.js';
import type { SessionSettings } from './settings.js';

export function parseSession(env: Environment, production: boolean): SessionSettings {
  const secret = env.text('SESSION_JWT_SECRET');
  const jwksUrl = env.webUrl('SESSION_JWKS_URL');
  if (production && secret !== undefined && Buffer.byteLength(secret) < HS256_SECRET_MIN_BYTES) {
    env.wrong('SESSION_JWT_SECRET', `must have at least ${HS256_SECRET_MIN_BYTES} bytes`);
  }
  if (production && secret === undefined && !env.has('SESSION_JWKS_URL')) {
    env.wrong('SESSION_JWKS_URL', 'or SESSION_JWT_SECRET is required with NODE_ENV=production');
  }
  return {
    jwksUrl,
    hs256Secret: secret === undefined ? undefined : Buffer.from(secret),
    issuer: env.text('SESSION_JWT_ISSUER'),
    audience: env.text('SESSION_JWT_AUDIENCE'),
    cookieName: env.text('SESSION_COOKIE_NAME'),
    requireEmailVerified: env.choice('SESSION_REQUIRE_EMAIL_VERIFIED') === 'true',
  };
}
