import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { errorMessage } from '../../common/logging/error-message.js';
import { Jobs } from '../../jobs/jobs.js';
import { PUT_IS_OVER_AFTER } from '../../storage/deletion-queue.js';
import { ObjectStore } from '../../storage/object-store.js';
import { StorageUnavailable } from '../../storage/storage.errors.js';
import { lockRowOfAnyOwner } from '../store/document-rows.js';
import { BodyLost } from '../store/documents.errors.js';
import { DocumentLock } from './document-lock.js';
import { DocumentRecovery } from './document-recovery.js';
import { DocumentUpdate } from './document-update.entity.js';

const ABANDONED = `created_at < now() - interval '${PUT_IS_OVER_AFTER}'`;
const BATCH_DOCUMENTS = 100;

/**
 * Settles documents whose update left its intent, if no request has done so since. Also removes the intents, so that
 * later updates need not examine them.
 */
@Injectable()
export class AbandonedUpdates {
  private readonly logger = new Logger(AbandonedUpdates.name);

  constructor(
    @InjectRepository(DocumentUpdate) private readonly updates: Repository<DocumentUpdate>,
    private readonly lock: DocumentLock,
    private readonly recovery: DocumentRecovery,
    private readonly store: ObjectStore,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'settle_documents', everySeconds: 600, work: () => this.run() });
  }

  /** @throws StorageUnavailable when the whole storage is away; the next run settles the remaining documents */
  async run(): Promise<void> {
    const documents = await this.settleAll();
    if (documents > 0) this.logger.log({ documents }, 'settled documents after abandoned updates');
  }

  /** Returns the number of settled documents. @throws StorageUnavailable */
  private async settleAll(): Promise<number> {
    let settled = 0;
    for (let after = 0; ;) {
      const ids = await this.findDocuments(after);
      if (ids.length === 0) return settled;
      for (const id of ids) if (await this.settle(id)) settled++;
      after = ids.at(-1)!;
    }
  }

  private async findDocuments(after: number): Promise<number[]> {
    const rows = await this.updates.query<{ id: number }[]>(
      `SELECT DISTINCT document_id AS id FROM document_updates
       WHERE ${ABANDONED} AND document_id > $1 ORDER BY document_id LIMIT ${BATCH_DOCUMENTS}`,
      [after],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Returns false for a document whose body is lost or unreadable. Such a document needs an operator, and does not
   * keep the job from settling the others.
   * @throws StorageUnavailable when the whole storage is away
   */
  private async settle(documentId: number): Promise<boolean> {
    try {
      await this.lock.runInTransaction(documentId, (transaction, deadline) =>
        this.settleLocked(documentId, deadline, transaction),
      );
      return true;
    } catch (error) {
      if (error instanceof StorageUnavailable) await this.store.check();
      else if (!(error instanceof BodyLost)) throw error;
      this.logger.error({ documentId, reason: errorMessage(error) }, 'a document cannot be settled');
      return false;
    }
  }

  private async settleLocked(id: number, deadline: AbortSignal, transaction: EntityManager): Promise<void> {
    const row = await lockRowOfAnyOwner(id, transaction);
    if (!row) return; // deleted meanwhile, together with its intents
    await this.recovery.settle(row, deadline, transaction);
    await transaction.query(`DELETE FROM document_updates WHERE document_id = $1 AND ${ABANDONED}`, [id]);
  }
}
