import type { HttpResponse } from '../../http/http-exchange.js';
import { createRejection } from './proxy-error.js';
import type { ProxyErrorCode } from './proxy-error.js';
import { requestIdHeaders } from '../wire/wire-headers.js';

/**
 * Builds the rejection of a request. The caller sends it after the request was recorded.
 * @param retryAfterSeconds see {@link createRejection}
 */
export function prepareRejection(
  response: HttpResponse,
  code: ProxyErrorCode,
  requestId: string,
  retryAfterSeconds?: number,
): PreparedRejection {
  const { status, headers, body } = createRejection(code, requestId, retryAfterSeconds);
  const text = JSON.stringify(body);
  return {
    status,
    send: () => {
      if (response.destroyed) return;
      response.writeHead(status, [
        'content-type',
        'application/json; charset=utf-8',
        'cache-control',
        'no-store',
        'content-length',
        String(Buffer.byteLength(text)),
        ...headers,
        ...requestIdHeaders(requestId),
      ]);
      response.end(text);
    },
  };
}

/** Rejection that was not sent yet. */
export interface PreparedRejection {
  readonly status: number;
  readonly send: () => void;
}
