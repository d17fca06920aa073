import type { Buffer } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DocumentBodies } from '../store/document-bodies.js';
import { sha256 } from '../store/document-body.js';
import { changeRow } from '../store/document-rows.js';
import type { DocumentRow, DocumentWithContent } from '../store/document-rows.js';
import { BodyLost, SlugTaken } from '../store/documents.errors.js';
import type { BodyLoss } from '../store/documents.errors.js';
import { DocumentUpdate } from './document-update.entity.js';

/**
 * Relation of a row to the stored body: they match (`whole`), an intent explains the difference (`unfinished`), or
 * the body is lost.
 */
export type Examined =
  | { readonly state: 'whole'; readonly content: string }
  | { readonly state: 'unfinished'; readonly content: string; readonly intent: DocumentUpdate }
  | { readonly state: BodyLoss };

/**
 * Completes updates that stored their body and never committed. Either the process was killed, or the storage
 * reported a failure and stored the body all the same.
 */
@Injectable()
export class DocumentRecovery {
  constructor(private readonly bodies: DocumentBodies) {}

  /**
   * Makes row and body match, and returns them. Runs in a transaction of the holder of the document lock.
   * @param row read and locked in that transaction
   * @throws BodyLost when the body belongs neither to the row nor to an intent
   */
  async settle(
    row: DocumentRow,
    deadline: AbortSignal,
    transaction: EntityManager,
  ): Promise<DocumentWithContent> {
    const examined = await this.examine(row, deadline, transaction);
    if (examined.state === 'whole') return { row, content: examined.content };
    if (examined.state !== 'unfinished') throw new BodyLost(row.id, examined.state);
    const changed = await carryOut(examined.intent, transaction);
    await transaction.delete(DocumentUpdate, { id: examined.intent.id });
    return { row: changed, content: examined.content };
  }

  /** Reports the state that {@link settle} would find; changes nothing. */
  async examine(row: DocumentRow, deadline: AbortSignal, transaction: EntityManager): Promise<Examined> {
    const bytes = await this.bodies.find(row.id, deadline);
    if (!bytes) return { state: 'missing' };
    const bodySha256 = sha256(bytes);
    const content = bytes.toString('utf8');
    if (bodySha256.equals(row.body_sha256)) return { state: 'whole', content };
    const intent = await findIntent(row.id, bodySha256, transaction);
    return intent ? { state: 'unfinished', content, intent } : { state: 'altered' };
  }
}

function findIntent(
  documentId: number,
  bodySha256: Buffer,
  transaction: EntityManager,
): Promise<DocumentUpdate | null> {
  return transaction.findOne(DocumentUpdate, { where: { documentId, bodySha256 }, order: { id: 'DESC' } });
}

/** Applies the intent to the row. The old slug stays if another document has taken the new one meanwhile. */
async function carryOut(intent: DocumentUpdate, transaction: EntityManager): Promise<DocumentRow> {
  const { documentId, title, slug } = intent;
  try {
    return await transaction.transaction((savepoint) =>
      changeRow(documentId, { title, slug, body: intent }, savepoint),
    );
  } catch (error) {
    if (!(error instanceof SlugTaken)) throw error;
    return changeRow(documentId, { title, body: intent }, transaction);
  }
}
