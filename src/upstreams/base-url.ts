const MAX_LENGTH = 2_048;

/**
 * What a URL has to look like before it is parsed, because parsing repairs a lot: scheme, a host without user
 * info, and a path; no query, no fragment, not even empty ones; no white space, controls or backslashes.
 */
const SHAPE = /^https?:\/\/[^/\\?#@\s\p{Cc}]+(?:\/[^\\?#\s\p{Cc}]*)?$/iu;

/**
 * The base URL as it is stored: normalised (host in lower case and Punycode, addresses in their usual form, no
 * default port, no dot segments), and without a slash at the end. Undefined when it cannot be one.
 */
export function normalBaseUrl(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !text.isWellFormed()) return undefined;
  if (!SHAPE.test(text) || !URL.canParse(text)) return undefined;
  const { origin, pathname, port } = new URL(text);
  const normal = origin + pathname.replace(/\/+$/, '');
  return port === '0' || normal.length > MAX_LENGTH ? undefined : normal;
}

/** Whether both lead to the same scheme, host and port, and so to somebody who may see the same API key. */
export function sameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}
