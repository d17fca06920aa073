/** The codes that clients of the proxy branch on, with their statuses and the types that the SDKs know. */
const REFUSALS = {
  missing_proxy_key: [
    401,
    'authentication_error',
    'send a proxy key as Authorization: Bearer, x-api-key or api-key',
  ],
  invalid_proxy_key: [401, 'authentication_error', 'the proxy key is not valid'],
  loop_detected: [400, 'invalid_request_error', 'the request has come through here before'],
  method_not_allowed: [405, 'invalid_request_error', 'TRACE would show the key of the upstream'],
  websockets_unsupported: [426, 'invalid_request_error', 'the proxy speaks HTTP, not the WebSocket protocol'],
  not_found: [404, 'not_found_error', 'no upstream can have this path'],
  request_too_large: [413, 'request_too_large', 'the request is larger than the proxy takes'],
  rate_limited: [429, 'rate_limit_error', 'the key has made too many requests within a minute'],
  too_many_streams: [429, 'rate_limit_error', 'the key has too many streams open'],
  upstream_error: [502, 'api_error', 'the upstream redirects, and redirects are not followed'],
  upstream_unreachable: [502, 'api_error', 'no upstream could be reached'],
  no_upstream: [503, 'api_error', 'the pool of this key has no enabled upstream'],
  database_unavailable: [503, 'api_error', 'the key cannot be verified at the moment'],
  upstream_timeout: [504, 'timeout_error', 'no upstream answered in time'],
  stream_interrupted: [502, 'api_error', 'the upstream ended its answer before it was complete'],
} as const;

export type ProxyErrorCode = keyof typeof REFUSALS;

export const PROXY_ERROR_CODES = Object.keys(REFUSALS) as ProxyErrorCode[];

/** To make the same request again would find the same key and pool: clients are told not to. */
const FINAL: readonly ProxyErrorCode[] = ['missing_proxy_key', 'invalid_proxy_key', 'no_upstream'];

/** Headers that RFC 9110 wants with a status (sections 15.5.2, 15.5.6 and 15.5.22). */
const DEMANDED: Readonly<Record<number, readonly string[]>> = {
  401: ['www-authenticate', 'Bearer'],
  405: ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  426: ['upgrade', 'HTTP/1.1'],
};

/** An answer of the proxy's own. */
export interface ProxyRefusal {
  readonly status: number;
  /** Those that tell clients what to do about it: names, in lower case, and values in turn. */
  readonly headers: readonly string[];
  readonly body: ProxyErrorBody;
}

/** A form that the SDKs of OpenAI and of Anthropic both can read. */
export interface ProxyErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly code: ProxyErrorCode;
    readonly param: null;
  };
  readonly request_id: string;
}

/** @param retryAfterSeconds of `rate_limited`: when another attempt may go better */
export function proxyRefusal(code: ProxyErrorCode, requestId: string, retryAfterSeconds = 1): ProxyRefusal {
  const [status, type, message] = REFUSALS[code];
  return {
    status,
    headers: [
      ...(DEMANDED[status] ?? []),
      ...(FINAL.includes(code) ? ['x-should-retry', 'false'] : []),
      ...(code === 'rate_limited' ? ['retry-after', String(retryAfterSeconds)] : []),
    ],
    body: { type: 'error', error: { type, message, code, param: null }, request_id: requestId },
  };
}
