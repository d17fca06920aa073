import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { HttpRequest, HttpResponse } from './http-exchange.js';

const HEADER = 'X-Request-Id';
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives the response its `X-Request-Id`. */
export function assignRequestId(request: HttpRequest, response: HttpResponse): void {
  response.setHeader(HEADER, requestIdFor(request));
}

/** The request's own id where that is well-formed, a new one otherwise. */
export function requestIdFor({ headers }: HttpRequest): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTABLE.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  return randomUUID();
}

/** The id that {@link assignRequestId} gave this response. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(HEADER));
}
