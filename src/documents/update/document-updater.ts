import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { assertMatch } from '../../common/api/conditional.js';
import { NotFound } from '../../common/api/domain-error.js';
import { crashPoint } from '../../common/process/crash-point.js';
import { translateViolation } from '../../database/transactions/translate-violation.js';
import { lockAdminRole } from '../../organizations/scope/organization-locks.js';
import type { OwnerScope } from '../../organizations/scope/owner-scope.js';
import type { UpdateDocumentDto } from '../store/dto/document.requests.js';
import { DocumentBodies } from '../store/document-bodies.js';
import { toBody } from '../store/document-body.js';
import type { Body } from '../store/document-body.js';
import { changeRow, entityTag, lockRow } from '../store/document-rows.js';
import type { DocumentRow, DocumentTarget, DocumentWithContent } from '../store/document-rows.js';
import { Document } from '../store/document.entity.js';
import { BodyLost } from '../store/documents.errors.js';
import { DocumentLock } from './document-lock.js';
import { DocumentRecovery } from './document-recovery.js';
import { DocumentUpdate } from './document-update.entity.js';

const ACTION = 'update documents';

type Members = Pick<UpdateDocumentDto, 'title' | 'slug'>;

/** Update of a body after its intent was written. */
interface BodyUpdate {
  readonly members: Members;
  readonly body: Body;
  /** Id of the row that states the intent. */
  readonly intent: number;
}

/**
 * Updates documents so that row and body always match. The key of the body never changes: the new body replaces the
 * old one in object storage, in the transaction that changes the row. An intent, committed before that, enables
 * {@link DocumentRecovery} to complete the update after a crash between the two.
 */
@Injectable()
export class DocumentUpdater {
  constructor(
    private readonly lock: DocumentLock,
    private readonly bodies: DocumentBodies,
    private readonly recovery: DocumentRecovery,
  ) {}

  /**
   * Checks in the order of these exceptions.
   * @throws OrganizationNotFound @throws AdminsOnly when the caller lost its role since the request arrived
   * @throws NotFound @throws SlugTaken @throws PreconditionFailed
   */
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
    members: Members,
  ): Promise<DocumentWithContent> {
    return this.lock.runInTransaction(target.id, async (transaction, deadline) => {
      await lockAdminRole(scope, ACTION, transaction);
      const locked = await lockRow(scope, target, 'wait', transaction);
      const { row, content } = await this.recovery.settle(locked, deadline, transaction);
      const changed = await changeRow(target.id, members, transaction);
      assertMatch(target.ifMatch, entityTag(row));
      await crashPoint('update:changed');
      return { row: changed, content };
    });
  }

  private updateBody(
    scope: OwnerScope,
    target: DocumentTarget,
    members: Members,
    content: string,
  ): Promise<DocumentWithContent> {
    const body = toBody(content);
    return this.lock.run(target.id, async ({ connection, deadline, runInTransaction }) => {
      const intent = await writeIntent(scope, target, { members, body }, connection);
      let isPutBegun = false;
      try {
        return await runInTransaction(async (transaction) => {
          const update = { members, body, intent };
          const row = await this.changeRowToBody(scope, target, update, deadline, transaction);
          await crashPoint('update:changed');
          isPutBegun = true;
          await this.bodies.put(target.id, body, deadline);
          await crashPoint('update:stored');
          await transaction.delete(DocumentUpdate, { id: intent });
          return { row, content };
        });
      } catch (error) {
        // Once the put has begun, the body may be stored, and only the intent tells which update it belongs to.
        if (!isPutBegun) await connection.delete(DocumentUpdate, { id: intent });
        throw error;
      }
    });
  }

  private async changeRowToBody(
    scope: OwnerScope,
    target: DocumentTarget,
    { members, body, intent }: BodyUpdate,
    deadline: AbortSignal,
    transaction: EntityManager,
  ): Promise<DocumentRow> {
    await lockAdminRole(scope, ACTION, transaction); // until the commit: the removal of a member waits for the put
    let row = await lockRow(scope, target, 'wait', transaction);
    if (await hasEarlierIntent(target.id, intent, transaction))
      row = await this.settle(row, deadline, transaction);
    const changed = await changeRow(target.id, { ...members, body }, transaction);
    assertMatch(target.ifMatch, entityTag(row));
    return changed;
  }

  /** Completes earlier updates. A lost body does not matter, because a new one replaces it. */
  private async settle(
    row: DocumentRow,
    deadline: AbortSignal,
    transaction: EntityManager,
  ): Promise<DocumentRow> {
    try {
      return (await this.recovery.settle(row, deadline, transaction)).row;
    } catch (error) {
      if (error instanceof BodyLost) return row;
      throw error;
    }
  }
}

/** Commits the intent of an update at once, and returns the id of its row. @throws NotFound */
async function writeIntent(
  { organizationId }: OwnerScope,
  { id, projectId }: DocumentTarget,
  { members: { title, slug }, body: { bodySha256, bodySize } }: Omit<BodyUpdate, 'intent'>,
  connection: EntityManager,
): Promise<number> {
  if (!(await connection.existsBy(Document, { id, projectId, organizationId }))) throw new NotFound();
  const intent = connection.create(DocumentUpdate, { documentId: id, title, slug, bodySha256, bodySize });
  try {
    await connection.insert(DocumentUpdate, intent);
  } catch (error) {
    translateViolation(error, { document_updates_document_id_fkey: NotFound });
  }
  await crashPoint('update:intent');
  return intent.id;
}

/** Whether an earlier update left its intent, so that its outcome is unknown. */
function hasEarlierIntent(documentId: number, intent: number, transaction: EntityManager): Promise<boolean> {
  return transaction
    .createQueryBuilder(DocumentUpdate, 'earlier')
    .where('earlier.documentId = :documentId AND earlier.id <> :intent', { documentId, intent })
    .getExists();
}
