import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DocumentBodies } from './document-bodies.js';
import { sha256 } from './document-body.js';
import type { DocumentWithContent } from './document-body.js';
import type { LockedDocument } from './document-lock.js';
import { changeRow } from './document-rows.js';
import { DocumentUpdate } from './document-update.entity.js';
import { Document } from './document.entity.js';
import { BodyLost, SlugTaken } from './documents.errors.js';
import type { BodyLoss } from './documents.errors.js';

/** How row and body stand to each other: they belong together, an announced update brings them together, or nothing does. */
export type Examined =
  | { readonly state: 'whole'; readonly content: string }
  | { readonly state: 'unfinished'; readonly content: string; readonly update: DocumentUpdate }
  | { readonly state: BodyLoss };

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
  async settle(row: Document, locked: LockedDocument): Promise<DocumentWithContent> {
    const examined = await this.examine(row, locked);
    if (examined.state === 'whole') return { document: row, content: examined.content };
    if (examined.state !== 'unfinished') throw new BodyLost(row.id, examined.state);
    const { manager } = locked;
    await carryOut(examined.update, manager);
    await manager.delete(DocumentUpdate, { id: examined.update.id });
    const document = await manager.findOneByOrFail(Document, { id: row.id });
    return { document, content: examined.content };
  }

  /** What {@link settle} would find; changes nothing. */
  async examine(row: Document, { manager, deadline }: LockedDocument): Promise<Examined> {
    const bytes = await this.bodies.current(row.id, deadline);
    if (!bytes) return { state: 'missing' };
    const bodySha256 = sha256(bytes);
    const content = bytes.toString('utf8');
    if (bodySha256.equals(row.bodySha256)) return { state: 'whole', content };
    const update = await manager.findOne(DocumentUpdate, {
      where: { documentId: row.id, bodySha256 },
      order: { id: 'DESC' },
    });
    return update ? { state: 'unfinished', content, update } : { state: 'altered' };
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
