import pg from 'pg';
import { isReadOnly } from './sql-states.js';

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
 * Refuses a connection that a pool has just made to a standby, as while a name still leads to the primary of before:
 * what is read there may be old, a revoked key among it, and nothing can be written.
 */
export async function assertPrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]!.standby) throw new Error('the server is a standby');
}

/**
 * A {@link PoolClient} that reports how long its statements took, and ends
 * the connection when an answer stays out: where the host is lost without a word, TCP would wait for a quarter of
 * an hour, and so would everybody else for the place in the pool. So it does when nothing may be written: another
 * connection may lead elsewhere by now, and this one would be kept as long as there is work.
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
        if (isReadOnly(error)) void this.end();
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
