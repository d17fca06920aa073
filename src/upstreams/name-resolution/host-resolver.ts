import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { HostsFile } from './hosts-file.js';
import { NameServers, NameServersFailed } from './name-servers.js';
import { NoThreadAvailable, SystemResolver } from './system-resolver.js';

/** Time after which a lookup counts as slow. */
export const SLOW_MS = 1_000;
/** Time after which a slow lookup is cancelled. The same as the connect timeout of upstreams. */
const TIMEOUT_MS = 5_000;
export const FAILURE_TTL_MS = 30_000;
const CACHED_FAILURES = 10_000;

const LOCALHOST: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves host names fairly: lookups of one organization never delay lookups of another organization.
 *
 * `dns.lookup` alone is not fair. libuv runs lookups on half of its 4 threads. A slow lookup holds its thread for ten
 * seconds or more and cannot be cancelled. Two slow names of one tenant would stop all lookups, including the lookup of
 * the database host. So this class follows the order of the system without a thread: first the hosts file, then the
 * name servers with the system's search list. That resolves names of containers, Compose and Kubernetes. Only names
 * that are unknown there are left to the system, which may use mDNS or LDAP: see {@link SystemResolver}.
 *
 * Organizations share only those threads. An organization has at most one slow lookup; a second one is cancelled after
 * {@link SLOW_MS}. A failure is cached per organization for 30 s, counted from the start of the lookup. A new name is
 * therefore usable within 30 s.
 */
@Injectable()
export class HostResolver {
  private readonly hosts = new HostsFile();
  private readonly nameServers = new NameServers();
  private readonly system = new SystemResolver((hostname) => this.lookUp(hostname));
  private readonly running = new Map<string, Promise<LookupAddress[]>>();
  private readonly failures = new LRUCache<string, Failure>({ max: CACHED_FAILURES });
  /** Organizations with a slow lookup. */
  private readonly slow = new Set<number>();

  /**
   * @param fresh whether to ignore a cached failure, because an administrator may have corrected the name
   * @throws Error with `code` if the name does not resolve
   */
  resolve(hostname: string, organizationId: number, { fresh = false } = {}): Promise<LookupAddress[]> {
    const key = `${organizationId} ${hostname}`;
    const running = this.running.get(key);
    if (running) return running;
    const failure = fresh ? undefined : this.failures.get(key);
    if (failure && performance.now() < failure.until) return Promise.reject(failure.error);
    const resolving = this.cacheFailure(key, () => this.find(hostname, organizationId)).finally(() =>
      this.running.delete(key),
    );
    this.running.set(key, resolving);
    return resolving;
  }

  /** Queries the name servers. @throws NameNotFound @throws NameServersFailed */
  protected query(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
    return this.nameServers.resolve(hostname, signal);
  }

  /** Calls the resolver of the system, which occupies a thread. */
  protected lookUp(hostname: string): Promise<LookupAddress[]> {
    return lookup(hostname, { all: true, verbatim: true });
  }

  private async cacheFailure(key: string, find: () => Promise<LookupAddress[]>): Promise<LookupAddress[]> {
    const until = performance.now() + FAILURE_TTL_MS;
    try {
      const addresses = await find();
      this.failures.delete(key);
      return addresses;
    } catch (error) {
      if (!(error instanceof NoThreadAvailable)) this.failures.set(key, { error: error as Error, until });
      throw error;
    }
  }

  private async find(hostname: string, organizationId: number): Promise<LookupAddress[]> {
    const listed = this.hosts.find(hostname);
    if (listed.length > 0) return listed;
    if (hostname === 'localhost') return LOCALHOST; // never sent to name servers (RFC 6761, section 6.3)
    try {
      return await this.queryFairly(hostname, organizationId);
    } catch (error) {
      if (error instanceof NameServersFailed && error.isTimeout) throw error;
    }
    return this.system.find(hostname, organizationId, !this.slow.has(organizationId));
  }

  private async queryFairly(hostname: string, organizationId: number): Promise<LookupAddress[]> {
    const aborting = new AbortController();
    const { signal } = aborting;
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new NameServersFailed(true)));
    });
    const timeout = setTimeout(() => aborting.abort(), TIMEOUT_MS);
    let isSlow = false;
    const slowTimer = setTimeout(() => {
      isSlow = !this.slow.has(organizationId) && !this.system.isRunningFor(organizationId);
      if (isSlow) this.slow.add(organizationId);
      else aborting.abort();
    }, SLOW_MS);
    try {
      return await Promise.race([this.query(hostname, signal), aborted]);
    } finally {
      clearTimeout(timeout);
      clearTimeout(slowTimer);
      if (isSlow) this.slow.delete(organizationId);
    }
  }
}

interface Failure {
  readonly error: Error;
  /** Time on the clock of `performance.now()`. */
  readonly until: number;
}
