import type { SignIn } from '../config/settings.js';

/**
 * Content security policy of the dashboard. The components create style elements, so inline styles are allowed; scripts
 * come from the own origin only. External images in documents load after a click; those over plain HTTP only if the
 * dashboard itself is served over it.
 */
export function contentPolicy(signIn: SignIn, publicUrl: string): string {
  const connections = signIn.kind === 'supabase' ? `'self' ${new URL(signIn.url).origin}` : "'self'";
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: https:${publicUrl.startsWith('http:') ? ' http:' : ''}`,
    "font-src 'self'",
    `connect-src ${connections}`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
