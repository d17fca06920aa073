import pg from 'pg';

type Observer = (outcome: 'ok' | 'failed', seconds: number) => void;

/** A client of PostgreSQL that reports how long its statements took, for a pool to make its connections of. */
export function measuredClient(observe: Observer): typeof pg.Client {
  class MeasuredClient extends pg.Client {
    /** Handed on as it comes; `never` stands for whatever the library's dozen of signatures return. */
    override query(...args: unknown[]): never {
      const beganAt = performance.now();
      const finished = (error: unknown) =>
        observe(error ? 'failed' : 'ok', (performance.now() - beganAt) / 1_000);
      const callback = args.at(-1);
      if (typeof callback === 'function') {
        args[args.length - 1] = (error: unknown, ...rest: unknown[]) => {
          finished(error);
          (callback as (...values: unknown[]) => void)(error, ...rest);
        };
      }
      const running = (super.query as (...values: unknown[]) => unknown).apply(this, args);
      if (running instanceof Promise) running.then(() => finished(undefined), finished);
      return running as never;
    }
  }
  return MeasuredClient;
}
