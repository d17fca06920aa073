import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const HEADER = 'X-Request-Id';
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives the response its `X-Request-Id`: the request's own where that is well-formed, a new one otherwise. */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): void {
  const given = request.headers['x-request-id'];
  response.setHeader(HEADER, typeof given === 'string' && ACCEPTABLE.test(given) ? given : newRequestId());
}

export function newRequestId(): string {
  return randomUUID();
}

/** The id that {@link assignRequestId} gave this response. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(HEADER));
}
