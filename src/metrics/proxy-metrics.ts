import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** Maximum number of upstreams with series of their own; later ones share the series with the id `other`. */
const MAX_UPSTREAMS = 1_000;
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

const NO_UPSTREAM = { upstream_id: 'none', upstream: 'none', provider: 'none' };
const OTHER_UPSTREAMS = { upstream_id: 'other', upstream: 'other', provider: 'other' };

/** Last upstream of a request. */
export interface MeasuredUpstream {
  readonly id: number;
  readonly name: string;
  readonly provider: string;
}

type UpstreamLabels = Record<'upstream_id' | 'upstream' | 'provider', string>;

/** Metrics of the proxy. The labels of an upstream are those of its first request since the start. */
export class ProxyMetrics {
  private readonly requests: Counter<keyof UpstreamLabels | 'outcome'>;
  private readonly attempts: Counter<'provider' | 'result'>;
  private readonly keyRejections: Counter<'error'>;
  private readonly limitRejections: Counter<'limit' | 'level'>;
  private readonly timeToFirstByte: Histogram<'provider'>;
  private streams = 0;
  private readonly upstreams = new Map<number, UpstreamLabels>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.requests = new Counter({
      name: 'mintkeep_proxy_requests_total',
      help: 'Requests to /v1 that passed the key check, by their last upstream and by outcome',
      labelNames: ['upstream_id', 'upstream', 'provider', 'outcome'],
      registers,
    });
    this.attempts = new Counter({
      name: 'mintkeep_proxy_attempts_total',
      help: 'Attempts at upstreams: ok, or the reason for not using the response',
      labelNames: ['provider', 'result'],
      registers,
    });
    this.keyRejections = new Counter({
      name: 'mintkeep_proxy_key_rejections_total',
      help: 'Requests to /v1 that did not pass the key check, by the code of the error',
      labelNames: ['error'],
      registers,
    });
    this.limitRejections = new Counter({
      name: 'mintkeep_limit_rejections_total',
      help: 'Requests to /v1 that a limit rejected: requests, tokens, budget or models of an organization, member or key',
      labelNames: ['limit', 'level'],
      registers,
    });
    this.timeToFirstByte = new Histogram({
      name: 'mintkeep_proxy_time_to_first_byte_seconds',
      help: 'Time from the arrival of a request to the first byte of a relayed response',
      labelNames: ['provider'],
      buckets: SECONDS,
      registers,
    });
  }

  /** Number of event streams that are being relayed. */
  get openStreams(): number {
    return this.streams;
  }

  /**
   * Counts a request that has ended.
   * @param upstream null if none was tried
   * @param outcome a word from a small set, such as the outcome of a usage record
   */
  finished(upstream: MeasuredUpstream | null, outcome: string): void {
    this.requests.inc({ ...this.labelsOf(upstream), outcome });
  }

  /** @param result `ok` or the reason for not using the response, a word from a small set */
  attempted(provider: string, result: string): void {
    this.attempts.inc({ provider, result });
  }

  /** Counts a request that did not pass the key check. */
  keyRejected(error: string): void {
    this.keyRejections.inc({ error });
  }

  /** Counts a request that a limit rejected. */
  limited(limit: string, level: string): void {
    this.limitRejections.inc({ limit, level });
  }

  firstByte(provider: string, seconds: number): void {
    this.timeToFirstByte.observe({ provider }, seconds);
  }

  streamOpened(): void {
    this.streams++;
  }

  streamClosed(): void {
    this.streams--;
  }

  private labelsOf(upstream: MeasuredUpstream | null): UpstreamLabels {
    if (!upstream) return NO_UPSTREAM;
    const known = this.upstreams.get(upstream.id);
    if (known) return known;
    if (this.upstreams.size >= MAX_UPSTREAMS) return OTHER_UPSTREAMS;
    const { id, name, provider } = upstream;
    const labels = { upstream_id: String(id), upstream: name, provider };
    this.upstreams.set(id, labels);
    return labels;
  }
}
