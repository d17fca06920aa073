const MAX_LENGTH = 2_048;

/**
 * Form of a valid base URL: scheme, host without user info, path. Query and fragment are rejected, even empty ones, and
 * so are white space, control characters and backslashes. Checked before parsing, because the parser repairs much.
 */
const SHAPE = /^https?:\/\/[^/\\?#@\s\p{Cc}]+(?:\/[^\\?#\s\p{Cc}]*)?$/iu;

/**
 * Normalizes a base URL for storage: host in lower case and Punycode, canonical addresses, no default port, no dot
 * segments, no trailing slash. Returns undefined for an invalid base URL.
 */
export function normalizeBaseUrl(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !text.isWellFormed()) return undefined;
  if (!SHAPE.test(text) || !URL.canParse(text)) return undefined;
  const { origin, pathname, port } = new URL(text);
  const normal = origin + pathname.replace(/\/+$/, '');
  return port === '0' || normal.length > MAX_LENGTH ? undefined : normal;
}

/** Whether both URLs have the same scheme, host and port, so that both may receive the same API key. */
export function isSameOrigin(a: string, b: string): boolean {
  return new URL(a).origin === new URL(b).origin;
}
