import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Raw, Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { crashPoint } from '../common/process/crash-point.js';
import { mapConcurrently } from '../common/async/map-concurrently.js';
import { errorMessage } from '../common/logging/error-message.js';
import { Jobs } from '../jobs/jobs.js';
import { Metrics } from '../metrics/metrics.js';
import { ObjectDeletion } from './object-deletion.entity.js';
import { ObjectStore } from './object-store.js';

/**
 * Time (an interval of PostgreSQL) after which no put is still in progress, whatever its caller was told. An object
 * that waits longer for its row is an orphan.
 */
export const PUT_IS_OVER_AFTER = '1 hour';
/** Maximum time that a request spends on deleting objects, unless a test sets another one. The sweep deletes the rest. */
const PROMPT_REMOVAL_MS = 1_000;
/** Maximum number of objects that a request deletes itself. The sweep deletes the rest. */
export const PROMPT_REMOVAL_KEYS = 100;
const SWEEP_BATCH = 100;
const DELETE_CONCURRENCY = 8;
/** Number of consecutive failures after which the store counts as away and the batch ends. */
const AWAY_AFTER_FAILURES = DELETE_CONCURRENCY;
/** Number of doublings after which the retry interval has reached one hour. Prevents an overflow of the interval. */
const DOUBLINGS_MAX = 6;

/** Outcome of deletions. A failed object is neither `gone` nor `untried`. */
interface Removal {
  readonly gone: readonly string[];
  readonly untried: readonly string[];
}

/**
 * Notes which objects are to be deleted, and deletes them. The transaction that makes an object superfluous writes
 * the note, and the object is deleted after the commit. A crash in between leaves a note, never an orphan.
 */
@Injectable()
export class DeletionQueue {
  promptRemovalMs = PROMPT_REMOVAL_MS;
  private readonly logger = new Logger(DeletionQueue.name);

  constructor(
    @InjectRepository(ObjectDeletion) private readonly deletions: Repository<ObjectDeletion>,
    private readonly store: ObjectStore,
    metrics: Metrics,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'delete_objects', everySeconds: 60, work: () => this.sweepAndLog() });
    metrics.gauge('mintkeep_deletion_queue_objects', 'Objects that are due to be deleted', () =>
      this.deletions.countBy({ dueAt: Raw((dueAt) => `${dueAt} <= now()`) }),
    );
  }

  /**
   * Takes an id from the sequence and notes the object `<prefix><id>` before it is stored, in one statement. Skips
   * ids whose object is noted already, as after a restore of the database.
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
   * Ends a reservation in the transaction that adds the row of the object.
   * @throws Error when the sweep has taken the object: the transaction must be rolled back
   */
  async keep(key: string, transaction: EntityManager): Promise<void> {
    const { affected } = await transaction.delete(ObjectDeletion, { key, attempts: 0 });
    if (affected !== 1) throw new Error('the reservation of an object has expired');
  }

  /** Notes objects whose rows are deleted. The caller calls {@link removePromptly} after the commit. */
  async note(keys: readonly string[], transaction: EntityManager): Promise<void> {
    await transaction.query(
      `INSERT INTO object_deletions (key, due_at) SELECT unnest($1::text[]), now()
       ON CONFLICT (key) DO UPDATE SET due_at = now()`,
      [keys],
    );
  }

  /**
   * {@link note} for any number of objects.
   * @param selection query for the members `key` and `unsettled`. A failed put may still store an unsettled object,
   *   which is therefore deleted now and once more later.
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

  /** Returns those of the keys that are noted. */
  async findNoted(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.deletions.query<{ key: string }[]>(
      'SELECT key FROM object_deletions WHERE key = ANY ($1)',
      [keys],
    );
    return new Set(rows.map(({ key }) => key));
  }

  /** Notes an object. Returns false if it was noted already. */
  async noteOrphan(key: string, transaction: EntityManager): Promise<boolean> {
    const rows = await transaction.query<{ key: string }[]>(
      'INSERT INTO object_deletions (key, due_at) VALUES ($1, now()) ON CONFLICT DO NOTHING RETURNING key',
      [key],
    );
    return rows.length > 0;
  }

  /**
   * Deletes noted objects within a short time. Never throws: the sweep deletes the rest.
   * @returns whether all objects are deleted
   */
  async removePromptly(keys: readonly string[]): Promise<boolean> {
    const signal = AbortSignal.timeout(this.promptRemovalMs);
    try {
      const { gone } = await this.remove(keys.slice(0, PROMPT_REMOVAL_KEYS), signal);
      return gone.length === keys.length;
    } catch (error) {
      this.report(error);
      return false;
    }
  }

  /**
   * Deletes the objects that are due; several replicas share the work. A failed deletion is retried after a time that
   * doubles up to one hour.
   * @returns the number of deleted objects
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

  private async sweepAndLog(): Promise<void> {
    const objects = await this.sweep();
    if (objects > 0) this.logger.log({ objects }, 'swept object storage');
  }

  /** Takes due notes for this replica by postponing them. `attempts` ends a reservation, see {@link keep}. */
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

  /** Makes untried objects due again. `attempts` does not return to 0, because the reservation is over, see {@link keep}. */
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
    const untried = await mapConcurrently(keys, DELETE_CONCURRENCY, attempt, isAway);
    await crashPoint('remove:deleted');
    if (gone.length > 0) await this.removeNotes(gone);
    return { gone, untried };
  }

  /** Removes the notes, except those of objects that are to be deleted a second time. */
  private async removeNotes(keys: readonly string[]): Promise<void> {
    await this.deletions.query(
      `WITH once_more AS (
         UPDATE object_deletions SET due_at = again_at, again_at = NULL
         WHERE key = ANY ($1) AND again_at > now() RETURNING key
       ) DELETE FROM object_deletions WHERE key = ANY ($1) AND key NOT IN (SELECT key FROM once_more)`,
      [keys],
    );
  }

  private report(error: unknown): void {
    this.logger.warn({ reason: errorMessage(error) }, 'objects remain until the next sweep');
  }
}
