import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { mapConcurrently } from '../../common/async/map-concurrently.js';
import { DeletionQueue } from '../../storage/deletion-queue.js';
import { ObjectStore } from '../../storage/object-store.js';
import { CHECK_CONCURRENCY, checkWithRetries } from './check-with-retries.js';
import { BODY_PREFIX, parseBodyKey } from '../store/document-body.js';
import { Document } from '../store/document.entity.js';
import type { CheckObserver, Finding } from './storage-finding.js';

const BATCH_KEYS = 500;

/**
 * Finds orphans: bodies that neither a document nor the deletion queue refers to. The service may run meanwhile.
 *
 * The deletion queue has a note of each body until its row commits, and again from the deletion of the row on. The
 * check therefore reads the notes first and the rows second. A document may still be deleted between the two reads,
 * so a body without both is looked up again. An orphan has neither note nor row in the second look-up.
 */
@Injectable()
export class ObjectCheck {
  constructor(
    @InjectRepository(Document) private readonly documents: Repository<Document>,
    private readonly store: ObjectStore,
    private readonly deletions: DeletionQueue,
  ) {}

  /**
   * Checks all objects below `documents/`.
   * @param repair deletes orphans through the deletion queue; objects that are not bodies stay
   * @throws StorageUnavailable when the whole storage is away
   */
  async run(observer: CheckObserver, repair: boolean): Promise<void> {
    for await (const keys of this.batches()) await this.checkAll(keys, observer, repair);
  }

  /** Whether there are more than `count` orphans. @throws StorageUnavailable */
  async hasMoreOrphansThan(count: number): Promise<boolean> {
    let orphans = 0;
    for await (const keys of this.batches()) {
      for (const key of await this.findUnreferenced(keys)) {
        const finding = await this.find(key, false);
        if (finding && finding.problem !== 'foreign' && ++orphans > count) return true;
      }
    }
    return false;
  }

  private async *batches(): AsyncGenerator<string[]> {
    const keys: string[] = [];
    for await (const key of this.store.list(BODY_PREFIX)) {
      keys.push(key);
      if (keys.length === BATCH_KEYS) yield keys.splice(0);
    }
    yield keys;
  }

  private async checkAll(keys: string[], observer: CheckObserver, repair: boolean): Promise<void> {
    const unreferenced = await this.findUnreferenced(keys);
    await mapConcurrently(keys, CHECK_CONCURRENCY, async (key) => {
      const finding = unreferenced.has(key) ? await this.find(key, repair) : undefined;
      if (finding) observer.onFinding(finding);
      observer.onChecked();
    });
  }

  private find(key: string, repair: boolean): Promise<Finding | undefined> {
    return checkWithRetries(key, this.store, () => this.check(key, repair));
  }

  private async check(key: string, repair: boolean): Promise<Finding | undefined> {
    if ((await this.findUnreferenced([key])).size === 0) return undefined;
    if ((await this.store.get(key)) === undefined) return undefined; // deleted since it was listed
    if (parseBodyKey(key) === undefined) return { subject: key, problem: 'foreign', repaired: false };
    if (!repair) return { subject: key, problem: 'orphan', repaired: false };
    const released = await this.release(key);
    if (released === 'kept') return undefined;
    return released === 'deleted'
      ? { subject: key, problem: 'orphan', repaired: true }
      : { subject: key, problem: 'undeleted', repaired: false };
  }

  /** Returns the keys that have neither note nor row. */
  private async findUnreferenced(keys: readonly string[]): Promise<Set<string>> {
    const noted = await this.deletions.findNoted(keys);
    const ids = keys.flatMap((key) => parseBodyKey(key) ?? []);
    const rows = await this.documents.find({ select: { id: true }, where: { id: In(ids) } });
    const existing = new Set(rows.map(({ id }) => id));
    return new Set(keys.filter((key) => !noted.has(key) && !existing.has(parseBodyKey(key) ?? 0)));
  }

  /**
   * Moves an orphan to the deletion queue and deletes it. A body that turns out to belong to a document is kept.
   *
   * After a restore of the database, ids are assigned a second time. While the note exists, no document is created
   * with this id. A document that was created before the note keeps its body.
   */
  async release(key: string): Promise<'kept' | 'noted' | 'deleted'> {
    const released = await this.documents.manager.transaction(async (transaction) => {
      if (!(await this.deletions.noteOrphan(key, transaction))) return false;
      const isReferenced = await transaction.existsBy(Document, { id: parseBodyKey(key)! });
      if (isReferenced) await this.deletions.keep(key, transaction);
      return !isReferenced;
    });
    if (!released) return 'kept';
    return (await this.deletions.removePromptly([key])) ? 'deleted' : 'noted';
  }
}
