/** Address of a request at an upstream, in the two parts that an HTTP client wants. */
export interface TargetUrl {
  /** Scheme, host and port: `https://api.openai.com`. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
}

/** Parsed base URL, reused for all requests. */
export interface EndpointUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly basePath: string;
  /** Whether the path has a version segment, which replaces the request's `/v1`. */
  readonly hasVersion: boolean;
}

/** Request target below `/v1`. */
export interface RequestTarget {
  /** Unchanged path and query. */
  readonly target: string;
  /** Path and query without `/v1`. */
  readonly afterVersion: string;
}

/** Path segment that starts with `v` and a digit: `/v1`, `/v1beta/openai`, `/api/paas/v4`. */
const VERSION_SEGMENT = /\/v\d[^/]*(?:\/|$)/;
const REQUEST_PREFIX = /^\/v1(?=[/?]|$)/;
const PREFIX_LENGTH = '/v1'.length;

/** Dot segment in any spelling that a server may accept. */
const DOT_SEGMENT = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=[/\\?#;]|%2f|%5c|%23|%3b|$)/i;

/** @param baseUrl normalized base URL without a trailing slash */
export function parseEndpoint(baseUrl: string): EndpointUrl {
  const upstreamPath = baseUrl.indexOf('/', 'https://'.length);
  const origin = upstreamPath < 0 ? baseUrl : baseUrl.slice(0, upstreamPath);
  const basePath = baseUrl.slice(origin.length);
  return { origin, basePath, hasVersion: VERSION_SEGMENT.test(basePath) };
}

/**
 * Checks a request target once for all upstreams.
 * @param requestTarget unchanged path and query
 * @returns undefined for a path that is not below `/v1` or has dot segments
 */
export function parseRequestTarget(requestTarget: string): RequestTarget | undefined {
  const queryAt = requestTarget.indexOf('?');
  const requestPath = queryAt < 0 ? requestTarget : requestTarget.slice(0, queryAt);
  if (!REQUEST_PREFIX.test(requestPath) || DOT_SEGMENT.test(requestPath)) return undefined;
  return { target: requestTarget, afterVersion: requestTarget.slice(PREFIX_LENGTH) };
}

/**
 * Path and query of a request at an upstream. If the path of the base URL has a version segment, that segment
 * replaces the request's `/v1`; otherwise the request's whole path is appended. Nothing is decoded or encoded.
 */
export function pathAt(
  { basePath, hasVersion }: EndpointUrl,
  { target, afterVersion }: RequestTarget,
): string {
  return basePath + (hasVersion ? afterVersion : target);
}

/** @returns undefined for a path that is not below `/v1` or has dot segments */
export function targetUrl(baseUrl: string, requestTarget: string): TargetUrl | undefined {
  const relative = parseRequestTarget(requestTarget);
  if (!relative) return undefined;
  const endpoint = parseEndpoint(baseUrl);
  return { origin: endpoint.origin, path: pathAt(endpoint, relative) };
}
