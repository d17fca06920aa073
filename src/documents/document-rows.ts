import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/domain-error.js';
import { advancedUpdatedAt } from '../database/change.js';
import { violatesUnique } from '../database/sql-states.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { Document } from './document.entity.js';
import { SlugTaken } from './documents.errors.js';

/** Which document, under which condition. */
export interface DocumentTarget {
  readonly projectId: number;
  readonly id: number;
  /** The request's `If-Match`. */
  readonly ifMatch?: string;
}

/**
 * The row, locked until the transaction ends.
 * @throws NotFound
 * @throws QueryFailedError `lock_not_available` with `nowait` when somebody else has locked it
 */
export async function lockRow(
  manager: EntityManager,
  { organizationId }: OwnerScope,
  { id, projectId }: DocumentTarget,
  onLocked?: 'nowait',
): Promise<Document> {
  const document = await manager.findOne(Document, {
    where: { id, projectId, organizationId },
    lock: { mode: 'pessimistic_write', onLocked },
  });
  if (!document) throw new NotFound();
  return document;
}

/** Changes the row and its version. Until the transaction ends nobody else gets the slug. @throws SlugTaken */
export async function changeRow(
  manager: EntityManager,
  id: number,
  change: Partial<Document>,
): Promise<void> {
  try {
    const advanced = { version: () => 'version + 1', updatedAt: advancedUpdatedAt };
    await manager.update(Document, { id }, { ...change, ...advanced });
  } catch (error) {
    throw slugTakenOr(error);
  }
}

export function slugTakenOr(error: unknown): unknown {
  return violatesUnique(error, 'documents_project_id_slug_key') ? new SlugTaken() : error;
}
