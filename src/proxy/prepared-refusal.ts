import type { HttpResponse } from '../common/http-exchange.js';
import { proxyRefusal } from './proxy-error.js';
import type { ProxyErrorCode } from './proxy-error.js';
import { idHeaders } from './wire-headers.js';

/** An answer of the proxy's own, not sent yet. */
export interface PreparedRefusal {
  readonly status: number;
  readonly send: () => void;
}

/** @param retryAfterSeconds see {@link proxyRefusal} */
export function prepareRefusal(
  response: HttpResponse,
  code: ProxyErrorCode,
  requestId: string,
  retryAfterSeconds?: number,
): PreparedRefusal {
  const { status, headers, body } = proxyRefusal(code, requestId, retryAfterSeconds);
  const text = JSON.stringify(body);
  return {
    status,
    send: () => {
      if (response.destroyed) return;
      response.writeHead(status, [
        ...['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'],
        ...['content-length', String(Buffer.byteLength(text)), ...headers],
        ...idHeaders(requestId),
      ]);
      response.end(text);
    },
  };
}
