import type { HttpResponse } from '../common/http-exchange.js';
import { proxyRefusal } from './proxy-error.js';
import type { ProxyErrorCode } from './proxy-error.js';

/** An answer of the proxy's own, not sent yet. */
export interface PreparedRefusal {
  readonly status: number;
  readonly send: () => void;
}

/** To make the same request again would find the same key and pool: clients are told not to. */
const FINAL: readonly ProxyErrorCode[] = ['missing_proxy_key', 'invalid_proxy_key', 'no_upstream'];

/** Headers that RFC 9110 wants with a status (sections 15.5.2, 15.5.6 and 15.5.22). */
const DEMANDED: Readonly<Record<number, readonly string[]>> = {
  401: ['www-authenticate', 'Bearer'],
  405: ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  426: ['upgrade', 'HTTP/1.1'],
};

/** @param retryAfterSeconds when another attempt may go better; 0: there is no telling */
export function refuse(
  response: HttpResponse,
  code: ProxyErrorCode,
  requestId: string,
  retryAfterSeconds = 0,
): PreparedRefusal {
  const { status, body } = proxyRefusal(code, requestId);
  const text = JSON.stringify(body);
  const retry = FINAL.includes(code) ? ['x-should-retry', 'false'] : [];
  const demanded = DEMANDED[status] ?? [];
  if (retryAfterSeconds > 0) retry.push('retry-after', String(retryAfterSeconds));
  return {
    status,
    send: () => {
      if (response.destroyed) return;
      response.writeHead(status, [
        ...['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'],
        ...['content-length', String(Buffer.byteLength(text)), ...retry, ...demanded],
        ...['x-request-id', requestId, 'request-id', requestId],
      ]);
      response.end(text);
    },
  };
}
