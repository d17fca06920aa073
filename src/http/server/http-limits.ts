/** Limits of the HTTP server that no deployment has a reason to change. */
export interface HttpLimits {
  /** Time from the start of a request, or of its connection, until its headers are complete. */
  readonly headersTimeoutMs: number;
  /** Time from the start of a request until its body is complete; the time of the response does not count. */
  readonly bodyTimeoutMs: number;
  /** Time that an idle connection is kept for the next request. */
  readonly keepAliveTimeoutMs: number;
  /** Time that a client may read nothing of a response that is waiting for it. */
  readonly clientIdleTimeoutMs: number;
  /** Maximum number of headers of a request. */
  readonly headerCountLimit: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 300_000,
  // Above the 60 s of common load balancers: if the service closes a connection first, a request in flight can get lost.
  keepAliveTimeoutMs: 75_000,
  clientIdleTimeoutMs: 300_000,
  headerCountLimit: 100,
};
