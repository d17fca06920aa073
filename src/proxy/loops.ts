/** What tells how often a request has come through a proxy (RFC 8586). */
export const LOOP_HEADER = 'cdn-loop';
export const LOOP_ID = 'mintkeep';

/** Some have one of these before the other; nobody has three. */
const PASSES_LIMIT = 3;

/** Whether a request goes round. @param header what its {@link LOOP_HEADER} says */
export function isLoop(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  const proxies = String(header).split(',', 100);
  return proxies.filter((proxy) => proxy.split(';')[0]!.trim() === LOOP_ID).length >= PASSES_LIMIT;
}
