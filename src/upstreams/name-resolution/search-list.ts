const DEFAULT_DOTS = 1;

/**
 * Returns the names to query for a host name, in the order of resolv.conf(5). A name with fewer dots than `ndots` is
 * first combined with the domains of the search list. In Kubernetes, `api.dev` must reach the service of that name
 * rather than a public host.
 */
export function candidateNames(hostname: string, config: string): string[] {
  const absolute = hostname.replace(/\.$/, '');
  if (absolute !== hostname) return [absolute];
  const { domains, dots } = parseConfig(config);
  const searched = domains.map((domain) => `${hostname}.${domain}`);
  const isQualified = hostname.split('.').length - 1 >= dots;
  return isQualified ? [absolute, ...searched] : [...searched, absolute];
}

/** Parses resolv.conf. The last `search` or `domain` line takes effect. */
function parseConfig(config: string): { domains: string[]; dots: number } {
  let domains: string[] = [];
  let dots = DEFAULT_DOTS;
  for (const line of config.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'search') domains = values;
    else if (keyword === 'domain') domains = values.slice(0, 1);
    else if (keyword === 'options') dots = parseDots(values) ?? dots;
  }
  const names = domains.map((domain) => domain.replace(/\.$/, ''));
  return { domains: names.filter((domain) => domain !== ''), dots };
}

function parseDots(options: readonly string[]): number | undefined {
  const [, dots] =
    /^ndots:(\d{1,2})$/.exec(options.findLast((option) => option.startsWith('ndots:')) ?? '') ?? [];
  return dots === undefined ? undefined : Number(dots);
}
