import { isDecodable } from '../../common/text/text.js';

/** Scheme and host of a target in absolute form. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Removes scheme and host from a request target, which may contain them (RFC 9112, section 3.2.2). */
export function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(ABSOLUTE_FORM, '');
  return path === target || path.startsWith('/') ? path : `/${path}`;
}

/** Whether a target is the prefix itself or a path below it. */
export function isBelow(target: string, prefix: string): boolean {
  if (!target.startsWith(prefix)) return false;
  const next = target[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

/**
 * Encodes percent signs that do not begin an encoded byte, so that every path can be routed. Express would respond to
 * such a path with an error of its own.
 */
export function toDecodableTarget(target: string): string {
  if (!target.includes('%')) return target;
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  const decodable = path
    .split('/')
    .map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')))
    .join('/');
  return end < 0 ? decodable : decodable + target.slice(end);
}
