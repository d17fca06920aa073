/** What there must be of records for a request. */
export interface Expected {
  readonly organizationId: number;
  /** One, none, or either: the answer was lost, or it is not known who refused. */
  records: 'one' | 'none' | 'either';
}

/** The requests to the proxy, by their ids. */
export class UsageBook {
  readonly requests = new Map<string, Expected>();

  began(id: string, organizationId: number): void {
    this.requests.set(id, { organizationId, records: 'either' });
  }

  ended(id: string, status: number): void {
    this.requests.get(id)!.records = status === 401 ? 'none' : 'one';
  }

  get certain(): number {
    return [...this.requests.values()].filter(({ records }) => records === 'one').length;
  }
}
