import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { mapConcurrently } from '../../common/async/map-concurrently.js';
import { ObjectStore } from '../../storage/object-store.js';
import { DocumentBodies } from '../store/document-bodies.js';
import { lockRowOfAnyOwner } from '../store/document-rows.js';
import type { DocumentRow } from '../store/document-rows.js';
import { Document } from '../store/document.entity.js';
import { DocumentLock } from '../update/document-lock.js';
import { DocumentRecovery } from '../update/document-recovery.js';
import { CHECK_CONCURRENCY, checkWithRetries } from './check-with-retries.js';
import type { CheckObserver, Finding } from './storage-finding.js';

const NEXT = 'SELECT id, body_sha256 FROM documents WHERE id > $1 ORDER BY id LIMIT 500';

type Checked = Pick<DocumentRow, 'id' | 'body_sha256'>;

/** Finds documents whose body in object storage does not match the row. The service may run meanwhile. */
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
   * Checks all documents in the order of their ids.
   * @param repair completes updates that stored their body and did not commit
   * @throws StorageUnavailable when the whole storage is away
   */
  async run(observer: CheckObserver, repair: boolean): Promise<void> {
    for (let after = 0; ;) {
      const rows = await this.documents.query<Checked[]>(NEXT, [after]);
      if (rows.length === 0) return;
      await mapConcurrently(rows, CHECK_CONCURRENCY, async (row) => {
        const finding = await checkWithRetries(nameOf(row), this.store, () => this.check(row, repair));
        if (finding) observer.onFinding(finding);
        observer.onChecked();
      });
      after = rows.at(-1)!.id;
    }
  }

  /** Repeats a failed check under the lock of the document, because an update may be in progress. */
  private async check(row: Checked, repair: boolean): Promise<Finding | undefined> {
    if ((await this.bodies.findMatching(row)) !== undefined) return undefined;
    return this.lock.runInTransaction(row.id, (transaction, deadline) =>
      this.checkLocked(row.id, repair, deadline, transaction),
    );
  }

  private async checkLocked(
    id: number,
    repair: boolean,
    deadline: AbortSignal,
    transaction: EntityManager,
  ): Promise<Finding | undefined> {
    const row = await lockRowOfAnyOwner(id, transaction);
    if (!row) return undefined; // deleted meanwhile
    const { state } = await this.recovery.examine(row, deadline, transaction);
    if (state === 'whole') return undefined;
    const repaired = repair && state === 'unfinished';
    if (repaired) await this.recovery.settle(row, deadline, transaction);
    return { subject: nameOf(row), problem: state, repaired };
  }
}

const nameOf = ({ id }: Checked): string => `document ${id}`;
