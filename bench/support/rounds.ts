import type { PinnedChild } from './child.js';
import { runLoad } from './load.js';
import type { Load } from './load.js';
import { median, percentile } from './statistics.js';

/** What a server did in one round, or the medians of several. */
export interface Figures {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the server process, user and system, in microseconds. */
  readonly cpuPerRequestUs: number;
}

export async function measure(server: PinnedChild, load: Omit<Load, 'port'>): Promise<Figures> {
  const cpuBefore = server.cpuSeconds();
  const { requests, seconds, latenciesMs } = await runLoad({ ...load, port: server.port });
  return {
    requestsPerSecond: requests / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    cpuPerRequestUs: ((server.cpuSeconds() - cpuBefore) / requests) * 1e6,
  };
}

export function medians(rounds: readonly Figures[]): Figures {
  const of = (name: keyof Figures) => median(rounds.map((figures) => figures[name]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuPerRequestUs: of('cpuPerRequestUs'),
  };
}

/** The median of the ratios of the rounds: what drifts between rounds does not reach it. */
export function cpuRatio(rounds: readonly Figures[], reference: readonly Figures[]): number {
  return median(rounds.map((figures, i) => figures.cpuPerRequestUs / reference[i]!.cpuPerRequestUs));
}
