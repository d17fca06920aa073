import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { assertMatch } from '../common/conditional.js';
import { crashPoint } from '../common/crash-point.js';
import { NotFound } from '../common/domain-error.js';
import { violatesForeignKey } from '../database/sql-states.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { DocumentBodies } from './document-bodies.js';
import { entityTag, toBody } from './document-body.js';
import type { Body, DocumentWithContent } from './document-body.js';
import { DocumentLock } from './document-lock.js';
import type { LockedDocument } from './document-lock.js';
import { DocumentRecovery } from './document-recovery.js';
import { changeRow, lockRow } from './document-rows.js';
import type { DocumentTarget } from './document-rows.js';
import { DocumentUpdate } from './document-update.entity.js';
import { Document } from './document.entity.js';
import { BodyLost } from './documents.errors.js';
import type { UpdateDocumentDto } from './dto/document.requests.js';

type RowChange = Pick<UpdateDocumentDto, 'title' | 'slug'>;

/**
 * Updates documents so that row and body always go together (`api.md`, section 9). The body has one key for
 * life and is replaced before the row is, in the row's transaction. Before that, the update is announced in a
 * row of its own, so that {@link DocumentRecovery} can finish it should it die in between.
 */
@Injectable()
export class DocumentUpdater {
  constructor(
    private readonly lock: DocumentLock,
    private readonly bodies: DocumentBodies,
    private readonly recovery: DocumentRecovery,
  ) {}

  /** @throws NotFound @throws SlugTaken @throws PreconditionFailed, looked for in this order */
  async update(
    scope: OwnerScope,
    target: DocumentTarget,
    { title, slug, content }: UpdateDocumentDto,
  ): Promise<DocumentWithContent> {
    const updated =
      content === undefined
        ? await this.updateRow(scope, target, { title, slug })
        : await this.updateBody(scope, target, { title, slug }, content);
    await crashPoint('update:committed');
    return updated;
  }

  private updateRow(
    scope: OwnerScope,
    target: DocumentTarget,
    change: RowChange,
  ): Promise<DocumentWithContent> {
    return this.lock.transaction(target.id, async (locked) => {
      const { manager } = locked;
      const { document, content } = await this.recovery.settle(await lockRow(manager, scope, target), locked);
      await changeRow(manager, target.id, change);
      assertMatch(target.ifMatch, entityTag(document));
      await crashPoint('update:changed');
      return { document: await manager.findOneByOrFail(Document, { id: target.id }), content };
    });
  }

  private updateBody(
    scope: OwnerScope,
    target: DocumentTarget,
    change: RowChange,
    content: string,
  ): Promise<DocumentWithContent> {
    const body = toBody(content);
    return this.lock.run(target.id, async (locked) => {
      const { manager } = locked;
      const announcement = await announce(manager, scope, target, change, body);
      const replacement = { underWay: false };
      try {
        return await locked.transaction(async () => {
          await this.changeRowToBody(scope, target, { change, body, announcement }, locked);
          await crashPoint('update:changed');
          replacement.underWay = true;
          await this.bodies.put(target.id, body, locked.deadline);
          await crashPoint('update:stored');
          await manager.delete(DocumentUpdate, { id: announcement });
          return { document: await manager.findOneByOrFail(Document, { id: target.id }), content };
        });
      } catch (error) {
        // Once the body may have been stored, what was announced is all that tells whose it is.
        if (!replacement.underWay) await manager.delete(DocumentUpdate, { id: announcement });
        throw error;
      }
    });
  }

  private async changeRowToBody(
    scope: OwnerScope,
    target: DocumentTarget,
    update: { change: RowChange; body: Body; announcement: number },
    locked: LockedDocument,
  ): Promise<void> {
    const { manager } = locked;
    const { bodySha256, bodySize } = update.body;
    let row = await lockRow(manager, scope, target);
    if (await hasEarlierUpdates(manager, target.id, update.announcement))
      row = await this.settle(row, locked);
    await changeRow(manager, target.id, { ...update.change, bodySha256, bodySize });
    assertMatch(target.ifMatch, entityTag(row));
  }

  /** The row as earlier updates left it. A body that is lost is no hindrance where another one is to be stored. */
  private async settle(row: Document, locked: LockedDocument): Promise<Document> {
    try {
      return (await this.recovery.settle(row, locked)).document;
    } catch (error) {
      if (error instanceof BodyLost) return row;
      throw error;
    }
  }
}

/** Writes down, for good, what is about to happen; returns the id of the note. @throws NotFound */
async function announce(
  manager: EntityManager,
  { organizationId }: OwnerScope,
  { id, projectId }: DocumentTarget,
  { title, slug }: RowChange,
  { bodySha256, bodySize }: Body,
): Promise<number> {
  if (!(await manager.existsBy(Document, { id, projectId, organizationId }))) throw new NotFound();
  const update = manager.create(DocumentUpdate, { documentId: id, title, slug, bodySha256, bodySize });
  try {
    await manager.insert(DocumentUpdate, update);
  } catch (error) {
    if (violatesForeignKey(error, 'document_updates_document_id_fkey')) throw new NotFound();
    throw error;
  }
  await crashPoint('update:announced');
  return update.id;
}

/** Whether an update before this one left its note: its outcome is not known yet. */
function hasEarlierUpdates(
  manager: EntityManager,
  documentId: number,
  announcement: number,
): Promise<boolean> {
  return manager
    .createQueryBuilder(DocumentUpdate, 'note')
    .where('note.documentId = :documentId AND note.id <> :announcement', { documentId, announcement })
    .getExists();
}
