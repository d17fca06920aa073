import type { Registry } from 'prom-client';
import { Durations } from './durations.js';
import { Tally } from './tally.js';
import type { Count } from './tally.js';

/** So many upstreams have figures of their own; those that come later share theirs under the id `other`. */
const MAX_UPSTREAMS = 1_000;
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

const OTHERS = { id: 'other', name: 'other', provider: 'other' };

/** The upstream that a request ended at. */
export interface MeasuredUpstream {
  readonly id: number;
  readonly name: string;
  readonly provider: string;
}

/**
 * The figures of the proxy. All methods together cost a request well below half a microsecond.
 *
 * An upstream is known by its id; its name and provider are those of its first request since the start.
 */
export class ProxyMetrics {
  private readonly requests: Tally<'upstream_id' | 'upstream' | 'provider' | 'outcome'>;
  private readonly attempts: Tally<'provider' | 'result'>;
  private readonly refusals: Tally<'error'>;
  private readonly timeToFirstByte: Durations;
  private streams = 0;
  private readonly requestsByUpstream = new Map<number, Map<string, Count>>();
  private readonly others = new Map<string, Count>();
  private readonly attemptsByProvider = new Map<string, Map<string, Count>>();
  private readonly refusalsByError = new Map<string, Count>();

  constructor(registry: Registry) {
    this.requests = new Tally(
      registry,
      'mintkeep_proxy_requests_total',
      'Requests to /v1 that passed the key check, by the upstream that they ended at and by outcome',
      ['upstream_id', 'upstream', 'provider', 'outcome'],
    );
    this.attempts = new Tally(
      registry,
      'mintkeep_proxy_attempts_total',
      'Attempts at upstreams: ok, or why the answer was not used',
      ['provider', 'result'],
    );
    this.refusals = new Tally(
      registry,
      'mintkeep_proxy_refusals_total',
      'Requests to /v1 that did not pass the key check, by the code of the error',
      ['error'],
    );
    this.timeToFirstByte = new Durations(registry, {
      name: 'mintkeep_proxy_time_to_first_byte_seconds',
      help: 'From the arrival of a request to the first byte of an answer that is passed on',
      labelNames: ['provider'],
      bounds: SECONDS,
    });
  }

  /** Event streams that are being passed on. */
  get openStreams(): number {
    return this.streams;
  }

  /**
   * A request is over.
   * @param upstream null when there was none to try
   * @param outcome one of few words, such as those of a usage record
   */
  finished(upstream: MeasuredUpstream | null, outcome: string): void {
    const counts = this.countsOf(upstream);
    let count = counts.get(outcome);
    if (!count) {
      const labels = labelsOf(counts === this.others ? OTHERS : upstream);
      count = this.requests.count({ ...labels, outcome });
      counts.set(outcome, count);
    }
    count.value++;
  }

  /** @param result `ok`, or why the answer was not used, as one of few words */
  attempted(provider: string, result: string): void {
    let counts = this.attemptsByProvider.get(provider);
    if (!counts) this.attemptsByProvider.set(provider, (counts = new Map<string, Count>()));
    let count = counts.get(result);
    if (!count) counts.set(result, (count = this.attempts.count({ provider, result })));
    count.value++;
  }

  /** A request did not pass the key check. */
  refused(error: string): void {
    let count = this.refusalsByError.get(error);
    if (!count) this.refusalsByError.set(error, (count = this.refusals.count({ error })));
    count.value++;
  }

  firstByte(provider: string, seconds: number): void {
    this.timeToFirstByte.observe(seconds, provider);
  }

  streamOpened(): void {
    this.streams++;
  }

  streamClosed(): void {
    this.streams--;
  }

  private countsOf(upstream: MeasuredUpstream | null): Map<string, Count> {
    const id = upstream?.id ?? 0;
    const known = this.requestsByUpstream.get(id);
    if (known) return known;
    if (upstream && this.requestsByUpstream.size >= MAX_UPSTREAMS) return this.others;
    const counts = new Map<string, Count>();
    this.requestsByUpstream.set(id, counts);
    return counts;
  }
}

function labelsOf(upstream: { id: number | string; name: string; provider: string } | null) {
  const { id = 'none', name = 'none', provider = 'none' } = upstream ?? {};
  return { upstream_id: String(id), upstream: name, provider };
}
