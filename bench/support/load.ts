import { Connection } from './connection.js';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** The bytes of the next request on a connection. */
  readonly next: () => Buffer;
  /** What every answer must be; anything else ends the run. */
  readonly status: number;
  /** When to stop: after this time, or after so many requests. */
  readonly until: { readonly seconds: number } | { readonly requests: number };
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Of every request, ascending. */
  readonly latenciesMs: Float64Array;
}

/**
 * Keep-alive connections that each send a request as soon as the last one is answered.
 * @throws Error when an answer is not the expected one, or none comes for 30 s
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  const goOn =
    'seconds' in load.until ? until(start + load.until.seconds * 1_000) : atMost(load.until.requests);
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => Connection.open(load.port)),
  );
  try {
    await Promise.all(connections.map((connection) => work(connection, load, latencies, goOn)));
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
  goOn: (now: number) => boolean,
): Promise<void> {
  while (goOn(performance.now())) {
    const { status, doneMs } = await connection.send(load.next());
    if (status !== load.status) throw new Error(`an answer with status ${status} instead of ${load.status}`);
    latencies.push(doneMs);
  }
}

function until(deadline: number): (now: number) => boolean {
  return (now) => now < deadline;
}

function atMost(requests: number): () => boolean {
  let begun = 0;
  return () => begun++ < requests;
}
