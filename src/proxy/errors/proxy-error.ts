/** Status, error type of the SDKs and message of each code. Clients branch on the codes. */
const ERRORS = {
  missing_proxy_key: [
    401,
    'authentication_error',
    'missing proxy key: send it as Authorization: Bearer, x-api-key or api-key',
  ],
  invalid_proxy_key: [401, 'authentication_error', 'invalid proxy key: it is unknown, expired or revoked'],
  loop_detected: [
    400,
    'invalid_request_error',
    'the request loops: a base URL of an upstream leads back to this proxy',
  ],
  method_not_allowed: [
    405,
    'invalid_request_error',
    'TRACE is not supported, because its response would show the key of the upstream',
  ],
  websockets_unsupported: [
    426,
    'invalid_request_error',
    'the WebSocket handshake is incomplete, or no upstream supports WebSockets here; use HTTP',
  ],
  invalid_request: [
    400,
    'invalid_request_error',
    'the body must have exactly one model, which must be a string, because models are restricted',
  ],
  model_not_allowed: [403, 'permission_error', 'this model is not allowed'],
  model_not_found: [404, 'not_found_error', 'no upstream serves this model'],
  budget_exceeded: [429, 'rate_limit_error', 'the budget is used up'],
  not_found: [404, 'not_found_error', 'invalid path: it must be below /v1 and must not contain dot segments'],
  request_timeout: [408, 'timeout_error', 'the request body arrives too slowly'],
  request_too_large: [413, 'request_too_large', 'the request body is larger than the limit of the proxy'],
  rate_limited: [
    429,
    'rate_limit_error',
    'too many requests per minute with this key, or too many concurrent requests of its owner',
  ],
  too_many_streams: [429, 'rate_limit_error', 'too many open streams with this key'],
  upstream_error: [502, 'api_error', 'the upstream response is not usable; redirects are not followed'],
  upstream_unreachable: [502, 'api_error', 'no upstream is reachable'],
  no_upstream: [503, 'api_error', 'the owner of this key has no enabled upstream'],
  database_unavailable: [503, 'api_error', 'the database is unavailable; try again later'],
  upstream_timeout: [504, 'timeout_error', 'no upstream responded in time'],
  stream_interrupted: [502, 'api_error', 'the upstream ended its response before it was complete'],
} as const;

export type ProxyErrorCode = keyof typeof ERRORS;

export const PROXY_ERROR_CODES = Object.keys(ERRORS) as ProxyErrorCode[];

/** Codes whose rejection tells clients not to retry, because the key, the pool and the limits would be the same. */
const NOT_RETRYABLE: readonly ProxyErrorCode[] = [
  'missing_proxy_key',
  'invalid_proxy_key',
  'no_upstream',
  'model_not_allowed',
  'model_not_found',
  'budget_exceeded',
];

/** Headers that RFC 9110 requires with a status (sections 15.5.2, 15.5.6 and 15.5.22). */
const REQUIRED_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ['www-authenticate', 'Bearer'],
  405: ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  426: ['upgrade', 'HTTP/1.1'],
};

/** Response of the proxy itself to a rejected request. */
export interface ProxyRejection {
  readonly status: number;
  /** Additional headers: alternating names, in lower case, and values. */
  readonly headers: readonly string[];
  readonly body: ProxyErrorBody;
}

/** Error format that the SDKs of both OpenAI and Anthropic parse. */
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

/** Reason for which a request is rejected. */
export interface RejectionReason {
  readonly code: ProxyErrorCode;
  /** Text for people; the general message of the code if absent. */
  readonly message?: string;
  /** Time until a retry may succeed. One second if absent for `rate_limited`, unknown for any other code. */
  readonly retryAfterSeconds?: number;
}

export function createRejection(reason: RejectionReason, requestId: string): ProxyRejection {
  const { code } = reason;
  const [status, type, general] = ERRORS[code];
  const { message = general, retryAfterSeconds = code === 'rate_limited' ? 1 : undefined } = reason;
  return {
    status,
    headers: [
      ...(REQUIRED_HEADERS[status] ?? []),
      ...(NOT_RETRYABLE.includes(code) ? ['x-should-retry', 'false'] : []),
      ...(retryAfterSeconds === undefined ? [] : ['retry-after', String(retryAfterSeconds)]),
    ],
    body: { type: 'error', error: { type, message, code, param: null }, request_id: requestId },
  };
}
