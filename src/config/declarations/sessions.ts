import { WEB_PROTOCOLS, choice, text, url } from './declaration.js';

export const SESSIONS = {
  SESSION_JWKS_URL: url({
    protocols: WEB_PROTOCOLS,
    description: 'Public keys of the identity provider (RS, PS, ES, Ed25519).',
  }),
  SESSION_JWT_SECRET: text({
    values: 'text; in production at least 32 bytes',
    description:
      'HS256 secret of the identity provider. Production requires this setting or `SESSION_JWKS_URL`.',
  }),
  SESSION_JWT_ISSUER: text({
    values: 'text',
    description: 'Required value of the claim `iss`. Unset: not checked.',
  }),
  SESSION_JWT_AUDIENCE: text({
    values: 'text',
    description: 'Required value of the claim `aud`. Unset: not checked.',
  }),
  SESSION_COOKIE_NAME: text({
    values: 'name of a cookie',
    pattern: /^[\w!#$%&'*+.^`|~-]+$/,
    problem: 'must be a cookie name',
    default: 'mintkeep_session',
    description: 'Cookie with the session of a browser. Only pages read it; `/me` does not.',
  }),
  SESSION_REQUIRE_EMAIL_VERIFIED: choice({
    choices: ['true', 'false'],
    default: 'false',
    description:
      '`true` treats a session without `email_verified` as unverified: it cannot accept invitations.',
  }),
};
