/** Header in which every proxy on the way of a request adds its token (RFC 8586). */
export const LOOP_HEADER = 'cdn-loop';
/** Token of every mintkeep. */
export const LOOP_TOKEN = 'mintkeep';

/** Maximum number of passes through any mintkeep. Two in a row are a known deployment; three are a loop. */
export const MAX_PASSES = 3;
/** Limit for model lists. Each pass multiplies the requests, because a list is requested from all upstreams. */
export const MAX_LIST_PASSES = 2;

/** @param header value of the request's {@link LOOP_HEADER} */
export function isLoop(header: string | string[] | undefined, maxPasses: number): boolean {
  if (header === undefined) return false;
  const proxies = String(header).split(',', 100);
  return proxies.filter((proxy) => proxy.split(';')[0]!.trim() === LOOP_TOKEN).length >= maxPasses;
}
