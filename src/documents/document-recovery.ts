import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DocumentBodies } from './document-bodies.js';
import type { LockedDocument } from './document-lock.js';
import { changeRow } from './document-rows.js';
import { DocumentUpdate } from './document-update.entity.js';
import { sha256 } from './document-with-content.js';
import type { DocumentWithContent } from './document-with-content.js';
import { Document } from './document.entity.js';
import { BodyLost, SlugTaken } from './documents.errors.js';

/**
 * Brings row and body together again after an update that stored its body and never committed: its process
 * was killed, or the storage kept silent and stored it all the same. The update is carried out as a whole.
 */
@Injectable()
export class DocumentRecovery {
  constructor(private readonly bodies: DocumentBodies) {}

  /**
   * The document whole, whatever state it was left in; in a transaction of the lock's holder.
   * @param row read and locked in that transaction
   * @throws BodyLost when the body is neither the row's nor that of an announced update
   */
  async settle(row: Document, { manager, deadline }: LockedDocument): Promise<DocumentWithContent> {
    const bytes = await this.bodies.current(row.id, deadline);
    const content = bytes.toString('utf8');
    const bodySha256 = sha256(bytes);
    if (bodySha256.equals(row.bodySha256)) return { document: row, content };
    const update = await manager.findOne(DocumentUpdate, {
      where: { documentId: row.id, bodySha256 },
      order: { id: 'DESC' },
    });
    if (!update) throw new BodyLost(row.id, 'altered');
    await carryOut(update, manager);
    await manager.delete(DocumentUpdate, { id: update.id });
    return { document: await manager.findOneByOrFail(Document, { id: row.id }), content };
  }
}

/** Should another document have taken the slug since, the old one stays. */
async function carryOut(update: DocumentUpdate, manager: EntityManager): Promise<void> {
  const { documentId, title, slug, bodySha256, bodySize } = update;
  const change = { title: title ?? undefined, bodySha256, bodySize };
  try {
    await manager.transaction((savepoint) =>
      changeRow(savepoint, documentId, { ...change, slug: slug ?? undefined }),
    );
  } catch (error) {
    if (!(error instanceof SlugTaken)) throw error;
    await changeRow(manager, documentId, change);
  }
}
