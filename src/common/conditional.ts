import { PreconditionFailed } from './domain-error.js';

/**
 * Whether an `If-Match` or `If-None-Match` value names the entity tag (RFC 9110, 13.1.1 and 13.1.2).
 * Weak tags are compared by their opaque part only where `weak` is allowed.
 */
function names(header: string, etag: string, weak: boolean): boolean {
  if (header.trim() === '*') return true;
  return header
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === etag || (weak && tag === `W/${etag}`));
}

/** Whether a GET with this `If-None-Match` is answered with 304. */
export function notModified(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch !== undefined && names(ifNoneMatch, etag, true);
}

/** @throws PreconditionFailed when there is an `If-Match` and it does not name the entity tag */
export function assertMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch !== undefined && !names(ifMatch, etag, false)) throw new PreconditionFailed();
}
