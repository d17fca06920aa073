/** Session as the dashboard keeps it: the token and the claims that the pages show. */
export interface Session {
  readonly token: string;
  readonly userId: string;
  readonly email: string;
  /** Time at which the token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

interface Claims {
  readonly sub?: unknown;
  readonly email?: unknown;
  readonly exp?: unknown;
}

/** Reads the claims of a JWT. The service checks the signature. Returns undefined if the text is no session. */
export function readSession(token: string): Session | undefined {
  const claims = parseClaims(token);
  const { sub, email, exp } = claims ?? {};
  if (typeof sub !== 'string' || typeof email !== 'string' || typeof exp !== 'number') return undefined;
  return { token, userId: sub, email, expiresAt: exp * 1_000 };
}

function parseClaims(token: string): Claims | undefined {
  try {
    const payload = token.split('.')[1]!.replace(/-/g, '+').replace(/_/g, '/');
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Claims;
  } catch {
    return undefined;
  }
}
