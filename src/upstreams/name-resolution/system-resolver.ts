import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { FairSemaphore } from '../../common/async/fair-semaphore.js';
import { withTimeout } from '../../common/async/with-timeout.js';
import { NameServersFailed } from './name-servers.js';

const THREADS = Number(process.env.UV_THREADPOOL_SIZE) || 4;
/** libuv runs lookups on half of its threads. One of those stays free for the database, object storage and mails. */
const LOOKUPS_MAX = Math.max(1, Math.ceil(THREADS / 2) - 1);
const WAITING_PER_ORGANIZATION = 100;
const QUEUE_TIMEOUT_MS = 2_000;
const TIMEOUT_MS = 5_000;

const CACHED_NAMES = 1_000;
const CACHE_TTL_MS = 600_000;

/**
 * Resolves names that only the system's resolver knows. A lookup holds its thread until the system gives up. So an
 * organization gets one thread, and all organizations together never get all threads. Without a free thread, the last
 * addresses of a name are used. Callers check them like new addresses.
 */
export class SystemResolver {
  private readonly threads = new FairSemaphore<number>({
    capacity: LOOKUPS_MAX,
    perKey: 1,
    waitingPerKey: WAITING_PER_ORGANIZATION,
    timeoutMs: QUEUE_TIMEOUT_MS,
    rejection: () => new NoThreadAvailable(),
  });
  private readonly cache = new LRUCache<string, LookupAddress[]>({ max: CACHED_NAMES, ttl: CACHE_TTL_MS });

  /** @param lookUp calls the resolver of the system, which occupies a thread */
  constructor(private readonly lookUp: (hostname: string) => Promise<LookupAddress[]>) {}

  /** Whether a lookup of the organization holds a thread. */
  isRunningFor(organizationId: number): boolean {
    return this.threads.isRunning(organizationId);
  }

  /**
   * @param mayLookUp whether the organization may start a lookup, which cannot be cancelled
   * @throws NoThreadAvailable @throws Error with `code` when the name does not resolve
   */
  async find(hostname: string, organizationId: number, mayLookUp: boolean): Promise<LookupAddress[]> {
    const cached = this.cache.get(hostname);
    if (cached && !(mayLookUp && this.threads.hasRoomFor(organizationId))) return cached;
    if (!mayLookUp) throw new NoThreadAvailable();
    const looking = this.threads.run(organizationId, () => this.lookUpAndCache(hostname));
    return withTimeout(TIMEOUT_MS, looking, () => new NameServersFailed(true)); // the thread stays occupied
  }

  private async lookUpAndCache(hostname: string): Promise<LookupAddress[]> {
    const addresses = await this.lookUp(hostname);
    this.cache.set(hostname, addresses);
    return addresses;
  }
}

/** No thread is free for the lookup. A later lookup may succeed. */
export class NoThreadAvailable extends Error {
  readonly code = 'EAI_AGAIN';

  constructor() {
    super('too many host names are waiting to be resolved');
  }
}
