import type { Response } from 'express';
import { PreconditionFailed } from './domain-error.js';

/** Whether the response to a GET with this `If-None-Match` is 304. */
export function notModified(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch !== undefined && matches(ifNoneMatch, etag, true);
}

/** @throws PreconditionFailed if there is an `If-Match` that does not contain the entity tag */
export function assertMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch !== undefined && !matches(ifMatch, etag, false)) throw new PreconditionFailed();
}

/** Sends a generated text. Express' `send` would add an ETag and respond to conditions with 304. */
export function sendUncached(response: Response, text: string): void {
  const bytes = Buffer.from(text);
  response.set({ 'Content-Length': String(bytes.length) });
  response.end(bytes);
}

/**
 * Whether an `If-Match` or `If-None-Match` value contains the entity tag (RFC 9110, sections 13.1.1 and 13.1.2).
 * @param weak whether a weak tag matches by its opaque part
 */
function matches(header: string, etag: string, weak: boolean): boolean {
  if (header.trim() === '*') return true;
  return header
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === etag || (weak && tag === `W/${etag}`));
}
