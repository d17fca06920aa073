import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

const HEADER = 'X-Request-Id';
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

interface WithHeaders {
  readonly headers: IncomingHttpHeaders;
}

/** Sets `X-Request-Id` of the response. */
export function assignRequestId(
  request: WithHeaders,
  response: { setHeader(name: string, value: string): unknown },
): void {
  response.setHeader(HEADER, requestIdFor(request));
}

/** Replaces the id of a response that must not repeat the id of its request. */
export function renewRequestId(response: ServerResponse): void {
  response.setHeader(HEADER, newRequestId());
}

/** Returns the request's own id if it is well-formed, and a new one otherwise. */
export function requestIdFor({ headers }: WithHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTABLE.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  return randomUUID();
}

/** Returns the id that {@link assignRequestId} set. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(HEADER));
}
