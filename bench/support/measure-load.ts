import type { PinnedChild } from './child.js';
import { runLoad } from './load.js';
import type { Load } from './load.js';
import { percentile } from './statistics.js';

/** Figures of a server under load. */
export interface LoadFigures {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the server process, user and system. */
  readonly cpuPerRequestUs: number;
}

export async function measureLoad(server: PinnedChild, load: Omit<Load, 'port'>): Promise<LoadFigures> {
  const cpuBefore = server.cpuSeconds();
  const { requests, seconds, latenciesMs } = await runLoad({ ...load, port: server.port });
  return {
    requestsPerSecond: requests / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    cpuPerRequestUs: ((server.cpuSeconds() - cpuBefore) / requests) * 1e6,
  };
}
