import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { fewAtOnce } from '../common/few-at-once.js';
import { ObjectStore } from '../storage/object-store.js';
import { CHECKED_AT_ONCE, findPatiently } from './check-pace.js';
import { DocumentBodies } from './document-bodies.js';
import { DocumentLock } from './document-lock.js';
import type { LockedDocument } from './document-lock.js';
import { DocumentRecovery } from './document-recovery.js';
import { Document } from './document.entity.js';
import type { CheckObserver, Finding } from './storage-finding.js';

const BATCH = 500;

/** Looks for documents whose body is not in object storage as it was stored, while they are read and written. */
@Injectable()
export class DocumentCheck {
  constructor(
    @InjectRepository(Document) private readonly documents: Repository<Document>,
    private readonly bodies: DocumentBodies,
    private readonly lock: DocumentLock,
    private readonly recovery: DocumentRecovery,
    private readonly store: ObjectStore,
  ) {}

  count(): Promise<number> {
    return this.documents.count();
  }

  /**
   * All documents that are there when their turn comes, in the order of their ids.
   * @param repair carries out updates that were announced, have stored their body and never committed
   * @throws StorageUnavailable when that is away as a whole
   */
  async run(observer: CheckObserver, repair: boolean): Promise<void> {
    for (let after = 0; ;) {
      const rows = await this.documents.find({
        where: { id: MoreThan(after) },
        order: { id: 'ASC' },
        take: BATCH,
      });
      if (rows.length === 0) return;
      await fewAtOnce(rows, CHECKED_AT_ONCE, async (row) => {
        const finding = await findPatiently(nameOf(row), this.store, () => this.check(row, repair));
        if (finding) observer.found(finding);
        observer.checked();
      });
      after = rows.at(-1)!.id;
    }
  }

  /** What does not match may be an update that is under way: it is looked at again with updates held off. */
  private async check(row: Document, repair: boolean): Promise<Finding | undefined> {
    if ((await this.bodies.matching(row)) !== undefined) return undefined;
    return this.lock.transaction(row.id, (locked) => this.checkLocked(row.id, locked, repair));
  }

  private async checkLocked(
    id: number,
    locked: LockedDocument,
    repair: boolean,
  ): Promise<Finding | undefined> {
    const row = await locked.manager.findOne(Document, {
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
    if (!row) return undefined; // deleted meanwhile
    const { state } = await this.recovery.examine(row, locked);
    if (state === 'whole') return undefined;
    const repaired = repair && state === 'unfinished';
    if (repaired) await this.recovery.settle(row, locked);
    return { subject: nameOf(row), problem: state, repaired };
  }
}

const nameOf = ({ id }: Document): string => `document ${id}`;
