import { createSecretKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { JWTPayload } from 'jose';

/** The HS256 secret of the service under test. */
export const SESSION_SECRET = 'a secret of at least thirty-two bytes for the tests';

/** The address of a user of the tests; ids may hold what addresses may not. */
export function emailOf(sub: string): string {
  return `${sub.replace(/[^\w.+-]/g, '-')}@example.com`;
}

/** A session as the identity provider would issue it; `claims` are added to or replace the usual ones. */
export async function sessionFor(sub: string, claims: JWTPayload = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({ sub, email: emailOf(sub), iat: now, exp: now + 3_600, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(createSecretKey(Buffer.from(SESSION_SECRET)));
}
