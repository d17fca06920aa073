const PROTOCOLS = ['http:', 'https:', 'mailto:'];

/** Whether a link may be followed. `javascript:`, `data:` and links without a target may not. */
export function isSafeLink(href: string | undefined): boolean {
  if (href === undefined || href === '') return false;
  if (href.startsWith('#')) return true;
  const base = 'https://relative.invalid/';
  return URL.canParse(href, base) && PROTOCOLS.includes(new URL(href, base).protocol);
}

/** Host of an image on another site, or undefined if the address cannot be loaded. */
export function imageHost(src: string | undefined): string | undefined {
  if (src === undefined || !URL.canParse(src)) return undefined;
  const { protocol, host } = new URL(src);
  return protocol === 'https:' || protocol === 'http:' ? host : undefined;
}
