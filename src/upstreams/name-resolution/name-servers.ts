import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { candidateNames } from './search-list.js';

/** Short enough to reach the second name server within a second if the first one is down. */
const TRY_TIMEOUT_MS = 600;
const TRIES = 3;
/** Time for the addresses of the other family: some name servers never respond to IPv6 queries. */
const OTHER_FAMILY_MS = 250;
const CONFIG_PATH = '/etc/resolv.conf';

/** Queries the name servers of the system. Unlike `dns.lookup`, a query needs no thread and can be cancelled. */
export class NameServers {
  /**
   * @param servers replacement for the name servers of the system
   * @param configPath file with the search list
   */
  constructor(
    private readonly servers?: readonly string[],
    private readonly configPath = CONFIG_PATH,
  ) {}

  /**
   * Resolves a name to at least one address, IPv4 first. Connections are tried in this order. An address of a family
   * that the machine lacks fails at once.
   * @throws NameNotFound @throws NameServersFailed
   */
  async resolve(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
    for (const name of candidateNames(hostname, this.config())) {
      const addresses = await this.query(name, signal);
      if (addresses.length > 0) return addresses;
    }
    throw new NameNotFound();
  }

  private config(): string {
    try {
      return readFileSync(this.configPath, 'utf8');
    } catch {
      return ''; // Windows has no such file
    }
  }

  /** Returns no address if the name has none. @throws NameServersFailed */
  private async query(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
    if (signal.aborted) throw new NameServersFailed(true);
    const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES }); // cancel() ends all queries of a resolver
    if (this.servers) resolver.setServers(this.servers);
    const cancel = () => resolver.cancel();
    let timer: NodeJS.Timeout | undefined;
    const resolveFamily = async (family: 4 | 6): Promise<LookupAddress[]> => {
      const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
      timer ??= setTimeout(cancel, OTHER_FAMILY_MS);
      return addresses.map((address) => ({ address, family }));
    };
    signal.addEventListener('abort', cancel);
    const results = await Promise.allSettled([resolveFamily(4), resolveFamily(6)]);
    signal.removeEventListener('abort', cancel);
    clearTimeout(timer);
    return addressesIn(results);
  }
}

const NO_ADDRESS = ['ENOTFOUND', 'ENODATA'];
const TIMEOUTS = ['ETIMEOUT', 'ECANCELLED'];

function addressesIn(results: readonly PromiseSettledResult<LookupAddress[]>[]): LookupAddress[] {
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (addresses.length > 0) return addresses;
  const codes = results.map((result) =>
    result.status === 'rejected' ? String((result.reason as NodeJS.ErrnoException).code) : 'ENODATA',
  );
  if (codes.every((code) => NO_ADDRESS.includes(code))) return [];
  throw new NameServersFailed(codes.some((code) => TIMEOUTS.includes(code)));
}

/** The name does not exist, or has no address. */
export class NameNotFound extends Error {
  readonly code = 'ENOTFOUND';

  constructor() {
    super('the host name does not resolve');
  }
}

/** No name server responded. */
export class NameServersFailed extends Error {
  readonly code = 'EAI_AGAIN';

  constructor(readonly isTimeout: boolean) {
    super('the name servers do not respond for the host name');
  }
}
