import type { HttpResponse } from '../../http/http-exchange.js';

/** Headers that belong to one connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = `
  connection keep-alive proxy-authenticate proxy-authorization proxy-connection
  te trailer trailers transfer-encoding upgrade http2-settings`;

/** mintkeep writes the last four itself. */
const NOT_TO_UPSTREAM = toNames(`${HOP_BY_HOP}
  authorization x-api-key api-key x-goog-api-key cookie cookie2
  forwarded via x-real-ip x-client-ip x-cluster-client-ip true-client-ip client-ip
  sec-websocket-key sec-websocket-version sec-websocket-extensions sec-websocket-protocol
  host content-length expect accept-encoding`);
const NOT_TO_UPSTREAM_PREFIX = /^(?:x-forwarded|x-original-|cf-|fly-client|fastly-client)/;

/**
 * Headers that an upstream must not set. `access-control-*` decides which sites may read responses. `x-accel-*`,
 * `x-sendfile` and similar headers are commands to the proxy server in front of mintkeep, such as to send a local file.
 */
const NOT_TO_CLIENT_PREFIX = /^(?:access-control-|x-accel-)/;
/** The line from `alt-svc` on lists headers about the host of the upstream, which is not the host of mintkeep. */
const NOT_TO_CLIENT = toNames(`${HOP_BY_HOP}
  set-cookie set-cookie2 x-request-id request-id
  sec-websocket-accept sec-websocket-extensions sec-websocket-protocol
  alt-svc strict-transport-security nel report-to reporting-endpoints clear-site-data
  x-sendfile x-lighttpd-send-file x-reproxy-url`);

/**
 * Selects the client's headers for an upstream, as lines with line ends.
 * @param raw alternating names and values as received
 */
export function toUpstreamHeaderLines(raw: readonly string[], connection: string | undefined): string {
  const excluded = connectionNames(connection);
  let lines = '';
  for (let i = 0; i < raw.length; i += 2) {
    const name = forwardedName(raw[i]!);
    if (name !== '' && !excluded?.has(name)) lines += `${name}: ${raw[i + 1]}\r\n`;
  }
  return lines;
}

const MAX_CACHED_NAMES = 1_000;
const MAX_CACHED_NAME_LENGTH = 64;
/** Caches {@link forwardedName}, because clients repeat a few names. */
const names = new Map<string, string>();

/** @returns the name in lower case; empty for a header that is dropped */
function forwardedName(raw: string): string {
  const cached = names.get(raw);
  if (cached !== undefined) return cached;
  const name = raw.toLowerCase();
  const isDropped = NOT_TO_UPSTREAM.has(name) || NOT_TO_UPSTREAM_PREFIX.test(name);
  if (names.size >= MAX_CACHED_NAMES) names.clear(); // random names of one client must not fill the cache forever
  if (raw.length <= MAX_CACHED_NAME_LENGTH) names.set(raw, isDropped ? '' : name);
  return isDropped ? '' : name;
}

/** Selects the headers of an upstream response for the client; alternating names and values. */
export function toClientHeaders(headers: readonly string[]): string[] {
  const excluded = connectionNames(joinValues(headers, 'connection'));
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    const isDropped = NOT_TO_CLIENT.has(name) || NOT_TO_CLIENT_PREFIX.test(name) || excluded?.has(name);
    if (!isDropped) kept.push(name, headers[i + 1]!);
  }
  return kept;
}

/** Request headers that may contain a key, on which the response depends. */
export const VARY = 'Authorization, X-Api-Key, Api-Key';
/** Quoted values may contain commas and are not parsed. */
const UNQUOTED = /^[^"]*$/;

/**
 * Adds {@link VARY}, so that no shared cache serves the response to the holder of another key. Not needed for responses
 * that shared caches do not store.
 * @param headers alternating names and values; all `vary` headers are merged into one
 */
export function addVary(headers: string[]): string[] {
  if (isPrivate(joinValues(headers, 'cache-control'))) return headers;
  const existing = joinValues(headers, 'vary');
  if (existing === undefined) return [...headers, 'vary', VARY];
  const present = parseList(existing);
  if (present.includes('*')) return headers;
  const missing = VARY.split(', ').filter((name) => !present.includes(name.toLowerCase()));
  const others = headers.filter((_, i) => headers[i - (i % 2)] !== 'vary');
  return [...others, 'vary', [existing, ...missing].join(', ')];
}

function isPrivate(cacheControl: string | undefined): boolean {
  if (cacheControl === undefined || !UNQUOTED.test(cacheControl)) return false;
  return parseList(cacheControl).some((directive) => directive === 'no-store' || directive === 'private');
}

/**
 * Merges headers for `writeHead` with headers that were set on the response before (for CORS). Equal names become one
 * header with all values (RFC 9110, section 5.3), because Node would keep only the last one.
 */
export function mergeSetHeaders(response: HttpResponse, headers: string[]): string[] {
  if (!response.getHeaders) return headers;
  const set = Object.entries(response.getHeaders());
  if (set.length === 0) return headers;
  const values = new Map(set.map(([name, value]) => [name, [String(value)]]));
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!];
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return [...values].flatMap(([name, all]) => [name, all.join(', ')]);
}

/** Headers with the request id for the SDKs of OpenAI and Anthropic; alternating names and values. */
export function requestIdHeaders(requestId: string): string[] {
  return ['x-request-id', requestId, 'request-id', requestId];
}

/**
 * Replaces headers of an upstream by those of the limits that mintkeep applies. Both alternate names and values.
 * @param headers may be changed
 */
export function withLimitHeaders(headers: string[], own: readonly string[]): string[] {
  if (own.length === 0) return headers;
  let kept = headers;
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const name = headers[i]!;
    if (name.startsWith('x-ratelimit-') && own.includes(name)) kept = kept.toSpliced(i, 2);
  }
  for (const text of own) kept.push(text);
  return kept;
}

/** Joins the values of all headers with this name; undefined if there is none. */
function joinValues(headers: readonly string[], name: string): string | undefined {
  let values: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) values = values === undefined ? headers[i + 1] : `${values}, ${headers[i + 1]}`;
  }
  return values;
}

/** Names in a `Connection` header. They belong to the connection, too. */
function connectionNames(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return undefined;
  return new Set(
    parseList(connection).filter((name) => name !== 'content-type' && name !== 'content-encoding'),
  );
}

/** Splits a comma-separated list into elements in lower case. */
function parseList(value: string): string[] {
  return value.split(',').map((element) => element.trim().toLowerCase());
}

/** Splits a list of header names at white space. */
function toNames(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}
