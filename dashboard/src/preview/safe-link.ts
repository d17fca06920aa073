const PROTOCOLS = ['http:', 'https:', 'mailto:'];

/** Whether a link may be followed. `javascript:`, `data:` and links without a target may not. */
export function isSafeLink(href: string | undefined): boolean {
  if (href === undefined || href === '') return false;
  if (href.startsWith('#')) return true;
  const base = 'https://relative.invalid/';
  return URL.canParse(href, base) && PROTOCOLS.includes(new URL(href, base).protocol);
}

/** Whether the page can load an image of this address. A page on HTTPS cannot load images over HTTP. */
export function isLoadable(src: string, pageProtocol: string): boolean {
  return pageProtocol !== 'https:' || new URL(src).protocol === 'https:';
}

/** Host of an image on another site, or undefined if the address is not one of the web. */
export function imageHost(src: string | undefined): string | undefined {
  if (src === undefined || !URL.canParse(src)) return undefined;
  const { protocol, host } = new URL(src);
  return protocol === 'https:' || protocol === 'http:' ? host : undefined;
}
