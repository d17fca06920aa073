import pg from 'pg';

type Observer = (outcome: 'ok' | 'failed', seconds: number) => void;

/**
 * A client of PostgreSQL whose end is no uncaught exception. Whoever has it from a pool hears of its end, but for a
 * moment in which pg-pool does not listen any more, and TypeORM does not yet: a connection may be made and ended
 * within one packet. Statements fail then, and the pool drops it.
 */
export class PoolClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/**
 * A {@link PoolClient} that reports how long its statements took, and ends
 * the connection when an answer stays out: where the host is lost without a word, TCP would wait for a quarter of
 * an hour, and so would everybody else for the place in the pool.
 * @param silenceLimitMs longer than any statement may take
 */
export function observedClient(silenceLimitMs: number, observe: Observer): typeof pg.Client {
  class ObservedClient extends PoolClient {
    /** Handed on as it comes; `never` stands for whatever the library's dozen of signatures return. */
    override query(...args: unknown[]): never {
      const beganAt = performance.now();
      let isOver = false;
      // After a stall of the event loop the answer may be here, and only not be read yet.
      const look = () => setImmediate(() => isOver || void this.end());
      const silence = setTimeout(look, silenceLimitMs).unref();
      const finished = (error: unknown) => {
        isOver = true;
        clearTimeout(silence);
        observe(error ? 'failed' : 'ok', (performance.now() - beganAt) / 1_000);
      };
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
  return ObservedClient;
}
