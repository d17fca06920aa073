import { WEB_PROTOCOLS, choice, text, url } from './declaration.js';

export const SESSIONS = {
  SUPABASE_AUTH_URL: url({
    protocols: WEB_PROTOCOLS,
    defaultText: 'the dashboard does not use Supabase Auth',
    description:
      'Base URL of Supabase Auth, such as `https://PROJECT.supabase.co/auth/v1`, at which the dashboard signs people in. ' +
      'The sessions are verified as the settings below say.',
  }),
  SUPABASE_ANON_KEY: text({
    values: 'text without white space',
    pattern: /^\S+$/,
    problem: 'must not contain white space',
    description: 'Public API key that the dashboard sends to Supabase Auth. Only with `SUPABASE_AUTH_URL`.',
  }),
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
