const BEARER = /^bearer +\S+ *$/i;
const SCHEME_LENGTH = 'bearer'.length;

/**
 * Extracts the token of an `Authorization` header (RFC 6750, section 2.1).
 * @returns undefined if there is no header, or its scheme is not `Bearer`
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !BEARER.test(authorization)) return undefined;
  return authorization.slice(SCHEME_LENGTH).trim();
}
