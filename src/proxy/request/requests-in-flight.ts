import { Injectable } from '@nestjs/common';
import type { HttpResponse } from '../../http/http-exchange.js';
import { Settings } from '../../config/settings.js';

const MIN_SWEEP_SIZE = 1_000;

/** Semaphore that limits the concurrent requests of each organization at this replica. */
@Injectable()
export class RequestsInFlight {
  private readonly organizations = new Map<number, InFlight>();
  private readonly limit: number;
  /** Number of counters at which idle ones are removed. */
  private sweepSize = MIN_SWEEP_SIZE;

  constructor({ proxyRequestsInFlight }: Settings) {
    this.limit = proxyRequestsInFlight;
  }

  /**
   * Counts a request until its response is closed.
   * @param response must not be closed yet
   * @returns false if the organization is at its limit; the request is not counted then
   */
  tryAcquire(organizationId: number, response: HttpResponse): boolean {
    if (this.limit === 0) return true;
    const inFlight = this.organizations.get(organizationId) ?? this.add(organizationId);
    if (inFlight.count >= this.limit) return false;
    inFlight.count++;
    response.once('close', () => inFlight.count--);
    return true;
  }

  private add(organizationId: number): InFlight {
    if (this.organizations.size >= this.sweepSize) this.removeIdle();
    const inFlight = { count: 0 };
    this.organizations.set(organizationId, inFlight);
    return inFlight;
  }

  /** Runs each time the map has doubled, so that its cost per request is constant. */
  private removeIdle(): void {
    for (const [id, { count }] of this.organizations) if (count === 0) this.organizations.delete(id);
    this.sweepSize = Math.max(MIN_SWEEP_SIZE, 2 * this.organizations.size);
  }
}

/** Counter of one organization. Counters are kept between requests: adding and deleting entries costs more. */
interface InFlight {
  count: number;
}
