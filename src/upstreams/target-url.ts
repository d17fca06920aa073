/** Where a request to an upstream goes, in the two parts that an HTTP client wants. */
export interface TargetUrl {
  /** Scheme, host and port: `https://api.openai.com`. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
}

/** A path segment of `v` and a digit: `/v1`, `/v1beta/openai`, `/api/paas/v4`. */
const VERSION_SEGMENT = /\/v\d[^/]*(?:\/|$)/;
const REQUEST_PREFIX = /^\/v1(?=[/?]|$)/;

/** A segment that leads upwards, in any spelling that a server may understand. */
const DOT_SEGMENT = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=[/\\?#;]|%2f|%5c|%23|%3b|$)/i;

/**
 * The URL that stands for a request of ours at an upstream. Where the path of the base URL has a version segment
 * it stands for the request's `/v1`, otherwise the request's whole path is appended; the query is kept, and
 * nothing is decoded or encoded.
 * @param baseUrl as stored: normalised, without a slash at the end
 * @param requestTarget path and query as they came, below `/v1`
 * @returns undefined for a path that is not below `/v1`, or would lead out of the base URL
 */
export function targetUrl(baseUrl: string, requestTarget: string): TargetUrl | undefined {
  const [requestPath = ''] = requestTarget.split('?', 1);
  if (!REQUEST_PREFIX.test(requestPath) || DOT_SEGMENT.test(requestPath)) return undefined;
  const pathAt = baseUrl.indexOf('/', 'https://'.length);
  const origin = pathAt < 0 ? baseUrl : baseUrl.slice(0, pathAt);
  const basePath = baseUrl.slice(origin.length);
  const rest = VERSION_SEGMENT.test(basePath) ? requestTarget.replace(REQUEST_PREFIX, '') : requestTarget;
  return { origin, path: basePath + rest };
}
