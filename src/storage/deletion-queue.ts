import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Raw, Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { crashPoint } from '../common/crash-point.js';
import { fewAtOnce } from '../common/few-at-once.js';
import { messagesOf } from '../common/messages-of.js';
import { Metrics } from '../metrics/metrics.js';
import { ObjectDeletion } from './object-deletion.entity.js';
import { ObjectStore } from './object-store.js';

/**
 * After this time (an interval of PostgreSQL's) a put has come to its end, whatever its caller was told: an
 * object that waits longer for the row that is to point to it has been left behind.
 */
export const PUT_IS_OVER_AFTER = '1 hour';
/** How long a request waits for objects to go that it has deleted; the sweep does what is left. */
const PROMPT_REMOVAL_MS = 1_000;
/** More than this is left to the sweep, so that no request is long for it. */
export const PROMPT_REMOVAL_KEYS = 100;
const SWEEP_BATCH = 100;
const DELETED_AT_ONCE = 8;
/** A store that fails so often in a row is away, and is asked for no more; one object that fails is just that. */
const AWAY_AFTER_FAILURES = DELETED_AT_ONCE;
/** After so many attempts the time between them has reached its hour; its double would end beyond all intervals. */
const DOUBLINGS_MAX = 6;

/** What became of objects that were to be deleted; a failed one is neither `gone` nor `untried`. */
interface Removal {
  readonly gone: readonly string[];
  readonly untried: readonly string[];
}

/**
 * Objects that nothing points to, or soon will not. Notes are written in the transaction that makes an
 * object superfluous, the objects go after it: a crash leaves a note, never an object that nobody knows of.
 */
@Injectable()
export class DeletionQueue {
  private readonly logger = new Logger(DeletionQueue.name);

  constructor(
    @InjectRepository(ObjectDeletion) private readonly deletions: Repository<ObjectDeletion>,
    private readonly store: ObjectStore,
    metrics: Metrics,
  ) {
    metrics.gauge('mintkeep_deletion_queue_objects', 'Objects in all that are due to be deleted', () =>
      this.deletions.countBy({ dueAt: Raw((dueAt) => `${dueAt} <= now()`) }),
    );
  }

  /**
   * Takes an id from the sequence and notes the object `<prefix><id>`, in one statement, before it is stored. An id
   * whose object still is to be deleted, as after a restore, is passed over.
   */
  async reserve(prefix: string, sequence: string): Promise<number> {
    for (;;) {
      const rows = await this.deletions.query<{ key: string }[]>(
        `INSERT INTO object_deletions (key, due_at)
         SELECT $1 || nextval($2::regclass), now() + interval '${PUT_IS_OVER_AFTER}'
         ON CONFLICT DO NOTHING RETURNING key`,
        [prefix, sequence],
      );
      if (rows.length > 0) return Number(rows[0]!.key.slice(prefix.length));
    }
  }

  /**
   * Ends a reservation in the transaction that makes the object wanted.
   * @throws Error when the sweep already is at the object: the transaction must not go on
   */
  async keep(key: string, transaction: EntityManager): Promise<void> {
    const { affected } = await transaction.delete(ObjectDeletion, { key, attempts: 0 });
    if (affected !== 1) throw new Error('the reservation of an object has run out');
  }

  /** Notes objects that nothing points to any more. Call {@link removePromptly} after the commit. */
  async note(keys: readonly string[], transaction: EntityManager): Promise<void> {
    await transaction.query(
      `INSERT INTO object_deletions (key, due_at) SELECT unnest($1::text[]), now()
       ON CONFLICT (key) DO UPDATE SET due_at = now()`,
      [keys],
    );
  }

  /**
   * As {@link note}, for as many objects as there may be.
   * @param selection a query for their `key`, and whether they are `unsettled`: a put may yet store such an object,
   *   although it has failed, and so it goes now, and once more later
   */
  async noteSelected(selection: string, values: unknown[], transaction: EntityManager): Promise<void> {
    await transaction.query(
      `INSERT INTO object_deletions (key, due_at, again_at)
       SELECT key, now(), CASE WHEN unsettled THEN now() + interval '${PUT_IS_OVER_AFTER}' END FROM (${selection}) AS s
       ON CONFLICT (key) DO UPDATE
       SET due_at = EXCLUDED.due_at, again_at = coalesce(EXCLUDED.again_at, object_deletions.again_at)`,
      values,
    );
  }

  /** Which of the keys are noted. */
  async findNoted(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.deletions.query<{ key: string }[]>(
      'SELECT key FROM object_deletions WHERE key = ANY ($1)',
      [keys],
    );
    return new Set(rows.map(({ key }) => key));
  }

  /** Notes an object unless it is noted already: then false, and somebody else knows of it. */
  async noteStray(key: string, transaction: EntityManager): Promise<boolean> {
    const rows = await transaction.query<{ key: string }[]>(
      'INSERT INTO object_deletions (key, due_at) VALUES ($1, now()) ON CONFLICT DO NOTHING RETURNING key',
      [key],
    );
    return rows.length > 0;
  }

  /**
   * Deletes noted objects now, as far as that is quickly done. Never fails: the sweep tries again.
   * @returns whether all of them are gone
   */
  async removePromptly(keys: readonly string[]): Promise<boolean> {
    const signal = AbortSignal.timeout(PROMPT_REMOVAL_MS);
    try {
      const { gone } = await this.remove(keys.slice(0, PROMPT_REMOVAL_KEYS), signal);
      return gone.length === keys.length;
    } catch (error) {
      this.report(error);
      return false;
    }
  }

  /**
   * Deletes the objects whose time has come; several replicas share the work. A failed one comes up again
   * after a time that doubles up to an hour.
   * @returns how many are gone
   */
  async sweep(): Promise<number> {
    let total = 0;
    for (;;) {
      const keys = await this.lease();
      if (keys.length === 0) return total;
      const { gone, untried } = await this.remove(keys);
      total += gone.length;
      if (untried.length === 0) continue;
      await this.giveBack(untried);
      return total;
    }
  }

  /** Takes due notes for itself by moving their time; `attempts` ends a reservation, see {@link keep}. */
  private async lease(): Promise<string[]> {
    const [rows] = await this.deletions.query<[{ key: string }[], number]>(
      `UPDATE object_deletions
       SET attempts = attempts + 1,
         due_at = now() + least(interval '1 minute' * power(2, least(attempts, ${DOUBLINGS_MAX})), interval '1 hour')
       WHERE key IN (
         SELECT key FROM object_deletions WHERE due_at <= now() ORDER BY due_at LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED
       ) RETURNING key`,
    );
    return rows.map(({ key }) => key);
  }

  /** What was not tried is due the next time. It stays taken up once: `attempts` is never 0 again, see {@link keep}. */
  private async giveBack(keys: readonly string[]): Promise<void> {
    await this.deletions.query(
      'UPDATE object_deletions SET due_at = now(), attempts = greatest(attempts - 1, 1) WHERE key = ANY ($1)',
      [keys],
    );
  }

  /** Deletes the objects, then their notes. */
  private async remove(keys: readonly string[], signal?: AbortSignal): Promise<Removal> {
    const gone: string[] = [];
    let failuresInARow = 0;
    const attempt = async (key: string): Promise<void> => {
      try {
        await this.store.delete(key, signal);
        gone.push(key);
        failuresInARow = 0;
      } catch (error) {
        if (++failuresInARow === 1) this.report(error);
      }
    };
    const isAway = () => failuresInARow >= AWAY_AFTER_FAILURES;
    const untried = await fewAtOnce(keys, DELETED_AT_ONCE, attempt, isAway);
    await crashPoint('remove:deleted');
    if (gone.length > 0) await this.strike(gone);
    return { gone, untried };
  }

  private async strike(keys: readonly string[]): Promise<void> {
    await this.deletions.query(
      `WITH once_more AS (
         UPDATE object_deletions SET due_at = again_at, again_at = NULL
         WHERE key = ANY ($1) AND again_at > now() RETURNING key
       ) DELETE FROM object_deletions WHERE key = ANY ($1) AND key NOT IN (SELECT key FROM once_more)`,
      [keys],
    );
  }

  private report(error: unknown): void {
    this.logger.warn({ reason: messagesOf(error) }, 'objects are left for the next sweep');
  }
}
