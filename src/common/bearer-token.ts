const BEARER = /^bearer +\S+ *$/i;
const SCHEME_LENGTH = 'bearer'.length;

/**
 * The token of an `Authorization` header (RFC 6750, section 2.1).
 * @returns undefined when there is none, or the credential is of another kind
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !BEARER.test(authorization)) return undefined;
  return authorization.slice(SCHEME_LENGTH).trim();
}
