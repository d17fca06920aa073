import type { HttpResponse } from '../../http/http-exchange.js';
import { createRejection } from './proxy-error.js';
import type { RejectionReason } from './proxy-error.js';
import { requestIdHeaders } from '../wire/wire-headers.js';

/**
 * Builds the rejection of a request. The caller sends it after the request was recorded.
 * @param more further headers: alternating names and values
 */
export function prepareRejection(
  response: HttpResponse,
  reason: RejectionReason,
  requestId: string,
  more: readonly string[] = [],
): PreparedRejection {
  const { status, headers, body } = createRejection(reason, requestId);
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
        ...more,
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
