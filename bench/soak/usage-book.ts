/** Number of records that a request must have. */
export interface Expected {
  readonly organizationId: number;
  /** `either`: the response was lost, or the sender of the rejection is unknown. */
  records: 'one' | 'none' | 'either';
}

/** Requests to the proxy by id. */
export class UsageBook {
  readonly requests = new Map<string, Expected>();

  begin(id: string, organizationId: number): void {
    this.requests.set(id, { organizationId, records: 'either' });
  }

  end(id: string, status: number): void {
    this.requests.get(id)!.records = status === 401 ? 'none' : 'one';
  }

  /** Number of requests that must have a record. */
  get certain(): number {
    return [...this.requests.values()].filter(({ records }) => records === 'one').length;
  }
}
