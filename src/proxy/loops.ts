/** What tells how often a request has come through a proxy (RFC 8586). */
export const LOOP_HEADER = 'cdn-loop';
export const LOOP_ID = 'mintkeep';

/** How often a request may have come through a proxy of our kind: some have one before the other, nobody has three. */
export const PASSES_LIMIT = 3;
/** A list is asked of all upstreams at once: with each round there are so many times more. */
export const LIST_PASSES_LIMIT = 2;

/** Whether a request goes round. @param header what its {@link LOOP_HEADER} says */
export function isLoop(header: string | string[] | undefined, passesLimit: number): boolean {
  if (header === undefined) return false;
  const proxies = String(header).split(',', 100);
  return proxies.filter((proxy) => proxy.split(';')[0]!.trim() === LOOP_ID).length >= passesLimit;
}
