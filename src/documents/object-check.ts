import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { fewAtOnce } from '../common/few-at-once.js';
import { DeletionQueue } from '../storage/deletion-queue.js';
import { ObjectStore } from '../storage/object-store.js';
import { CHECKED_AT_ONCE, findPatiently } from './check-pace.js';
import { BODY_PREFIX, documentIdOf } from './document-body.js';
import { Document } from './document.entity.js';
import type { CheckObserver, Finding } from './storage-finding.js';

const BATCH = 500;

/**
 * Looks for bodies that no document points to and that nobody is going to delete, while documents come and go.
 *
 * A body is noted for deletion before it is stored, until its row commits, and from the commit that removes the row
 * until it is deleted. So notes are asked for first and rows second: a body without either is one whose document has
 * gone in between. Asked for once more, it is noted or deleted, or it is a stray one.
 */
@Injectable()
export class ObjectCheck {
  constructor(
    @InjectRepository(Document) private readonly documents: Repository<Document>,
    private readonly store: ObjectStore,
    private readonly deletions: DeletionQueue,
  ) {}

  /**
   * All objects below `documents/`.
   * @param repair deletes stray bodies by way of the deletion queue; objects that are no bodies stay
   * @throws StorageUnavailable when that is away as a whole
   */
  async run(observer: CheckObserver, repair: boolean): Promise<void> {
    for await (const keys of this.batches()) await this.checkAll(keys, observer, repair);
  }

  /** Whether there are more stray bodies than this. @throws StorageUnavailable */
  async hasMoreStraysThan(count: number): Promise<boolean> {
    let strays = 0;
    for await (const keys of this.batches()) {
      for (const key of await this.findUnclaimed(keys)) {
        const finding = await this.find(key, false);
        if (finding && finding.problem !== 'foreign' && ++strays > count) return true;
      }
    }
    return false;
  }

  private async *batches(): AsyncGenerator<string[]> {
    const keys: string[] = [];
    for await (const key of this.store.list(BODY_PREFIX)) {
      keys.push(key);
      if (keys.length === BATCH) yield keys.splice(0);
    }
    yield keys;
  }

  private async checkAll(keys: string[], observer: CheckObserver, repair: boolean): Promise<void> {
    const unclaimed = await this.findUnclaimed(keys);
    await fewAtOnce(keys, CHECKED_AT_ONCE, async (key) => {
      const finding = unclaimed.has(key) ? await this.find(key, repair) : undefined;
      if (finding) observer.found(finding);
      observer.checked();
    });
  }

  private find(key: string, repair: boolean): Promise<Finding | undefined> {
    return findPatiently(key, this.store, () => this.check(key, repair));
  }

  private async check(key: string, repair: boolean): Promise<Finding | undefined> {
    if ((await this.findUnclaimed([key])).size === 0) return undefined;
    if ((await this.store.get(key)) === undefined) return undefined; // deleted since it was listed
    if (documentIdOf(key) === undefined) return { subject: key, problem: 'foreign', repaired: false };
    if (!repair) return { subject: key, problem: 'stray', repaired: false };
    const released = await this.release(key);
    if (released === 'kept') return undefined;
    return released === 'deleted'
      ? { subject: key, problem: 'stray', repaired: true }
      : { subject: key, problem: 'undeleted', repaired: false };
  }

  /** Those that have neither note nor row. */
  private async findUnclaimed(keys: readonly string[]): Promise<Set<string>> {
    const noted = await this.deletions.findNoted(keys);
    const ids = keys.flatMap((key) => documentIdOf(key) ?? []);
    const rows = await this.documents.find({ select: { id: true }, where: { id: In(ids) } });
    const existing = new Set(rows.map(({ id }) => id));
    return new Set(keys.filter((key) => !noted.has(key) && !existing.has(documentIdOf(key) ?? 0)));
  }

  /**
   * Hands the body to the deletion queue unless it turns out to be a document's: then it is kept. One that could
   * not be deleted at once is noted.
   *
   * After a restore, ids that had been given out are given out again: while our note is there, no document with this
   * id begins, and one that was quicker keeps its body.
   */
  async release(key: string): Promise<'kept' | 'noted' | 'deleted'> {
    const released = await this.documents.manager.transaction(async (transaction) => {
      if (!(await this.deletions.noteStray(key, transaction))) return false;
      const quicker = await transaction.existsBy(Document, { id: documentIdOf(key)! });
      if (quicker) await this.deletions.keep(key, transaction);
      return !quicker;
    });
    if (!released) return 'kept';
    return (await this.deletions.removePromptly([key])) ? 'deleted' : 'noted';
  }
}
