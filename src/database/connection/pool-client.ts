import pg from 'pg';
import { isReadOnly } from './sql-states.js';

type Observer = (outcome: 'ok' | 'failed', seconds: number) => void;

/**
 * Client of PostgreSQL whose end never causes an uncaught exception. Normally the pool or TypeORM handles the end. For
 * a moment, pg-pool no longer listens and TypeORM does not yet: a connection may be opened and closed within one
 * packet. Then its statements fail, and the pool drops the client.
 */
export class PoolClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/**
 * Rejects a new connection to a standby, for example while a host name still resolves to the previous primary. Reads
 * on a standby may be stale, including revoked keys, and writes fail.
 */
export async function assertPrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]!.standby)
    throw new Error('the database server is a standby: DATABASE_URL has to lead to the primary');
}

/**
 * Creates a class of {@link PoolClient} that reports the duration of statements and closes unusable connections:
 * - after a response timeout, because TCP would detect a lost host only after a quarter of an hour
 * - after a rejected write, because the server became a standby and the pool would reuse a busy connection for ever
 * @param responseTimeoutMs longer than any statement may take
 */
export function createObservedClient(responseTimeoutMs: number, observe: Observer): typeof pg.Client {
  class ObservedClient extends PoolClient {
    /** Passes all arguments on. `never` stands for the return types of the library's dozen signatures. */
    override query(...args: unknown[]): never {
      const beganAt = performance.now();
      let isOver = false;
      // After a stall of the event loop, the response may have arrived without having been read.
      const onTimeout = () => setImmediate(() => isOver || void this.end());
      const timer = setTimeout(onTimeout, responseTimeoutMs).unref();
      const onEnd = (error: unknown) => {
        isOver = true;
        clearTimeout(timer);
        observe(error ? 'failed' : 'ok', (performance.now() - beganAt) / 1_000);
        if (isReadOnly(error)) void this.end();
      };
      const callback = args.at(-1);
      if (typeof callback === 'function') {
        args[args.length - 1] = (error: unknown, ...rest: unknown[]) => {
          onEnd(error);
          (callback as (...values: unknown[]) => void)(error, ...rest);
        };
      }
      const running = (super.query as (...values: unknown[]) => unknown).apply(this, args);
      if (running instanceof Promise) running.then(() => onEnd(undefined), onEnd);
      return running as never;
    }
  }
  return ObservedClient;
}
