import { Connection } from './connection.js';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** Returns the bytes of the next request. */
  readonly next: () => Buffer;
  /** Status of every response; any other one ends the load. */
  readonly status: number;
  /** Duration or number of requests. */
  readonly until: { readonly seconds: number } | { readonly requests: number };
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Latency of every request, ascending. */
  readonly latenciesMs: Float64Array;
}

/**
 * Sends over keep-alive connections, each of which sends a request as soon as it has the previous response.
 * @throws Error if a status differs, or if a response stalls for 30 s
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  const shouldContinue =
    'seconds' in load.until
      ? beforeDeadline(start + load.until.seconds * 1_000)
      : countDown(load.until.requests);
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => Connection.open(load.port)),
  );
  try {
    await Promise.all(connections.map((connection) => work(connection, load, latencies, shouldContinue)));
  } finally {
    for (const connection of connections) connection.close();
  }
  const seconds = (performance.now() - start) / 1_000;
  return { requests: latencies.length, seconds, latenciesMs: Float64Array.from(latencies).sort() };
}

async function work(
  connection: Connection,
  load: Load,
  latencies: number[],
  shouldContinue: (now: number) => boolean,
): Promise<void> {
  while (shouldContinue(performance.now())) {
    const { status, doneMs } = await connection.send(load.next());
    if (status !== load.status) throw new Error(`status ${status} instead of ${load.status}`);
    latencies.push(doneMs);
  }
}

function beforeDeadline(deadline: number): (now: number) => boolean {
  return (now) => now < deadline;
}

function countDown(requests: number): () => boolean {
  let begun = 0;
  return () => begun++ < requests;
}
