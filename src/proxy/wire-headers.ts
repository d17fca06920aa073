/** Headers that belong to one connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'trailers', 'transfer-encoding', 'upgrade', 'http2-settings'],
];

const NOT_TO_UPSTREAM = new Set([
  ...HOP_BY_HOP,
  ...['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie', 'cookie2'],
  ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'true-client-ip', 'client-ip'],
  ...['host', 'content-length', 'expect', 'accept-encoding'], // ours to say
]);
const NOT_TO_UPSTREAM_PREFIX = /^(?:x-forwarded|x-original-|cf-|fly-client|fastly-client)/;

/** The upstream's word on which sites may read its answers does not count for ours. */
const NOT_TO_CLIENT_PREFIX = 'access-control-';
const NOT_TO_CLIENT = new Set([
  ...HOP_BY_HOP,
  ...['set-cookie', 'set-cookie2', 'x-request-id', 'request-id'],
  // Said of the upstream's host, not of ours.
  ...['alt-svc', 'strict-transport-security', 'nel', 'report-to', 'reporting-endpoints', 'clear-site-data'],
]);

/**
 * The lines of a client's headers that an upstream gets, each with its line end.
 * @param raw names and values in turn, as they came
 */
export function linesToUpstream(raw: readonly string[], connection: string | undefined): string {
  const named = namedBy(connection);
  let lines = '';
  for (let i = 0; i < raw.length; i += 2) {
    const name = nameToUpstream(raw[i]!);
    if (name !== '' && !named?.has(name)) lines += `${name}: ${raw[i + 1]}\r\n`;
  }
  return lines;
}

const KNOWN_NAMES = 1_000;
/** Clients send the same few names again and again. */
const names = new Map<string, string>();

/** In lower case; empty where the header stays. */
function nameToUpstream(raw: string): string {
  const known = names.get(raw);
  if (known !== undefined) return known;
  const name = raw.toLowerCase();
  const stays = NOT_TO_UPSTREAM.has(name) || NOT_TO_UPSTREAM_PREFIX.test(name);
  if (names.size < KNOWN_NAMES) names.set(raw, stays ? '' : name);
  return stays ? '' : name;
}

/** The headers of an upstream's answer that the client gets, names and values in turn. */
export function headersToClient(headers: readonly string[]): string[] {
  const named = namedBy(valuesOf(headers, 'connection'));
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    const goes = NOT_TO_CLIENT.has(name) || name.startsWith(NOT_TO_CLIENT_PREFIX) || named?.has(name);
    if (!goes) kept.push(name, headers[i + 1]!);
  }
  return kept;
}

/** What a request is called, by the names that the SDKs of OpenAI and of Anthropic look for; names and values in turn. */
export function idHeaders(requestId: string): string[] {
  return ['x-request-id', requestId, 'request-id', requestId];
}

/** All that the headers of one name say; undefined where there is none. */
function valuesOf(headers: readonly string[], name: string): string | undefined {
  let values: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) values = values === undefined ? headers[i + 1] : `${values},${headers[i + 1]}`;
  }
  return values;
}

/** Those that a `Connection` header names belong to the connection, too. */
function namedBy(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return undefined;
  const names = connection.split(',').map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => name !== 'content-type' && name !== 'content-encoding'));
}
