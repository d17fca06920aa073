import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { messagesOf } from '../common/messages-of.js';
import { Jobs } from '../jobs/jobs.js';
import { PUT_IS_OVER_AFTER } from '../storage/deletion-queue.js';
import { ObjectStore } from '../storage/object-store.js';
import { StorageUnavailable } from '../storage/storage.errors.js';
import { DocumentLock } from './document-lock.js';
import type { LockedDocument } from './document-lock.js';
import { DocumentRecovery } from './document-recovery.js';
import { DocumentUpdate } from './document-update.entity.js';
import { Document } from './document.entity.js';
import { BodyLost } from './documents.errors.js';

const ABANDONED = `created_at < now() - interval '${PUT_IS_OVER_AFTER}'`;
const BATCH = 100;

/**
 * Settles documents that an update left in doubt and that nobody has read or written since, and forgets what the
 * update had announced, so that the next ones need not look for it.
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

  /** @throws StorageUnavailable when that is away as a whole; what is left in doubt then is settled the next time */
  async run(): Promise<void> {
    const documents = await this.settleAll();
    if (documents > 0) this.logger.log({ documents }, 'settled documents that updates had left in doubt');
  }

  /** Returns how many are settled. @throws StorageUnavailable */
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
       WHERE ${ABANDONED} AND document_id > $1 ORDER BY document_id LIMIT ${BATCH}`,
      [after],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * False for one whose body is lost, which is for a person to see to, or cannot be read, which holds up none of
   * the others. @throws StorageUnavailable when none can be
   */
  private async settle(documentId: number): Promise<boolean> {
    try {
      await this.lock.transaction(documentId, (locked) => this.settleLocked(documentId, locked));
      return true;
    } catch (error) {
      if (error instanceof StorageUnavailable) await this.store.check();
      else if (!(error instanceof BodyLost)) throw error;
      this.logger.error({ documentId, reason: messagesOf(error) }, 'a document cannot be settled');
      return false;
    }
  }

  private async settleLocked(id: number, locked: LockedDocument): Promise<void> {
    const { manager } = locked;
    const document = await manager.findOne(Document, { where: { id }, lock: { mode: 'pessimistic_write' } });
    if (!document) return; // deleted meanwhile, with all that was announced
    await this.recovery.settle(document, locked);
    await manager.query(`DELETE FROM document_updates WHERE document_id = $1 AND ${ABANDONED}`, [id]);
  }
}
