import type { HttpResponse } from '../../http/http-exchange.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { mergeSetHeaders, requestIdHeaders, VARY } from '../wire/wire-headers.js';
import { ANTHROPIC_VERSION_LINE } from './model-list-request.js';

/** Whether the client expects the format of Anthropic. @param lines header lines of the client */
export function isForAnthropic(lines: string): boolean {
  return ANTHROPIC_VERSION_LINE.test(lines);
}

/** Sends a 200 with JSON text that mintkeep has created. */
export function sendJson(request: ProxiedRequest, response: HttpResponse, body: readonly Buffer[]): void {
  if (response.destroyed) return;
  const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
  const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(length)];
  headers.push('vary', VARY, ...requestIdHeaders(request.id), ...request.limitHeaders);
  response.writeHead(200, mergeSetHeaders(response, headers));
  for (const chunk of body) response.write(chunk);
  response.end();
}
