import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { assertMatch } from '../common/api/conditional.js';
import { DomainError, NotFound } from '../common/api/domain-error.js';
import { errorMessage } from '../common/logging/error-message.js';
import { crashPoint } from '../common/process/crash-point.js';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import { isConstraintViolation, isLockTimeout } from '../database/connection/sql-states.js';
import { Transactions } from '../database/transactions/transactions.js';
import { lockAdminRole } from '../organizations/scope/organization-locks.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { ProjectsDeleting, ProjectsService } from '../projects/projects.service.js';
import { DeletionQueue, PROMPT_REMOVAL_KEYS } from '../storage/deletion-queue.js';
import type { CreateDocumentDto, UpdateDocumentDto } from './store/dto/document.requests.js';
import type { DocumentSummaryResponse } from './store/dto/document.response.js';
import { DocumentBodies } from './store/document-bodies.js';
import { BODY_PREFIX, bodyKey, toBody } from './store/document-body.js';
import type { Body } from './store/document-body.js';
import { entityTag, GET, insertRow, LIST, lockRow } from './store/document-rows.js';
import type { DocumentRow, DocumentTarget, DocumentWithContent } from './store/document-rows.js';
import { Document } from './store/document.entity.js';
import { DocumentLock } from './update/document-lock.js';
import { DocumentRecovery } from './update/document-recovery.js';
import { DocumentUpdater } from './update/document-updater.js';

const SEQUENCE = 'documents_id_seq';

// Conditions that select documents. An owner may have a million of them, so no process holds the list of their ids.
const BY_ID = 'id = $1';
const BY_PROJECT = 'project_id = $1';
const BY_ORGANIZATION = 'project_id IN (SELECT id FROM projects WHERE organization_id = $1)';

/** Documents of a project. A document of another owner or of another project is reported as not found. */
@Injectable()
export class DocumentsService implements OnModuleInit {
  private readonly logger = new Logger(DocumentsService.name);

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly projects: ProjectsService,
    private readonly bodies: DocumentBodies,
    private readonly updater: DocumentUpdater,
    private readonly recovery: DocumentRecovery,
    private readonly lock: DocumentLock,
    private readonly deletions: DeletionQueue,
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
  ) {}

  onModuleInit(): void {
    this.transactions.on(ProjectsDeleting, ({ which }, transaction) => this.releaseAll(which, transaction));
  }

  /** Lists the documents without their bodies. @throws NotFound when there is no such project */
  async list(scope: OwnerScope, projectId: number): Promise<DocumentSummaryResponse[]> {
    const rows = await this.queries.rows<DocumentSummaryResponse>(LIST, [projectId, scope.organizationId]);
    if (rows.length === 0) await this.projects.get(scope, projectId); // tells an empty project from a missing one
    return rows;
  }

  /** Reads the row without the body. @throws NotFound */
  async get(scope: OwnerScope, projectId: number, id: number): Promise<DocumentRow> {
    const [row] = await this.queries.rows<DocumentRow>(GET, [id, projectId, scope.organizationId]);
    if (!row) throw new NotFound();
    return row;
  }

  /**
   * Adds the body to a row that was just read. If an update came in between, reads row and body again, and the last
   * time under the lock of the document. The returned row and body always match.
   * @throws NotFound when the document was deleted meanwhile @throws BodyLost
   */
  async withContent(scope: OwnerScope, read: DocumentRow): Promise<DocumentWithContent> {
    const target = { id: read.id, projectId: read.project_id };
    let row = read;
    for (let attempt = 0; attempt < 2; attempt++) {
      const content = await this.bodies.findMatching(row);
      if (content !== undefined) return { row, content };
      row = await this.get(scope, target.projectId, target.id);
    }
    return this.lock.runInTransaction(target.id, async (transaction, deadline) =>
      this.recovery.settle(await lockRow(scope, target, 'wait', transaction), deadline, transaction),
    );
  }

  /**
   * @throws OrganizationNotFound @throws AdminsOnly when the caller lost its role since the request arrived
   * @throws NotFound when there is no such project @throws SlugTaken @throws TooManyDocuments
   */
  async create(
    scope: OwnerScope,
    projectId: number,
    { title, slug, content = '' }: CreateDocumentDto,
  ): Promise<DocumentWithContent> {
    await this.projects.get(scope, projectId);
    const body = toBody(content);
    const id = await this.deletions.reserve(BODY_PREFIX, SEQUENCE);
    await crashPoint('create:reserved');
    await this.bodies.put(id, body);
    await crashPoint('create:stored');
    const row = await this.insert(scope, { id, projectId }, { title, slug, body });
    await crashPoint('create:committed');
    return { row, content };
  }

  /** @throws as {@link DocumentUpdater.update} */
  async update(
    scope: OwnerScope,
    target: DocumentTarget,
    changes: UpdateDocumentDto,
  ): Promise<DocumentWithContent> {
    await this.get(scope, target.projectId, target.id); // only the owner may wait for the lock of a document
    return this.updater.update(scope, target, changes);
  }

  /**
   * @throws OrganizationNotFound @throws AdminsOnly when the caller lost its role since the request arrived
   * @throws NotFound @throws PreconditionFailed
   */
  async delete(scope: OwnerScope, target: DocumentTarget): Promise<void> {
    try {
      await this.transactions.runOnce((transaction) => this.deleteRow(scope, target, 'nowait', transaction));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      // An update of the document or a change of members is in progress. The wait for it needs the storage semaphore.
      await this.lock.runAfterWriters(target.id, (transaction) =>
        this.deleteRow(scope, target, 'wait', transaction),
      );
    }
    await crashPoint('delete:committed');
    await this.deletions.removePromptly([bodyKey(target.id)]);
  }

  private async deleteRow(
    scope: OwnerScope,
    target: DocumentTarget,
    onLocked: 'wait' | 'nowait',
    transaction: EntityManager,
  ): Promise<void> {
    await lockAdminRole(scope, 'delete documents', transaction);
    const row = await lockRow(scope, target, onLocked, transaction);
    assertMatch(target.ifMatch, entityTag(row));
    await this.releaseBodies(BY_ID, row.id, transaction);
    await transaction.delete(Document, { id: row.id });
    await crashPoint('delete:noted');
  }

  /**
   * Inserts the row and ends the reservation of its body, in one transaction. After a failure, the reservation
   * remains, and the deletion queue removes the body. `transactions.run` retries while another update of the project
   * reserves the slug.
   */
  private async insert(
    scope: OwnerScope,
    target: DocumentTarget,
    members: { title: string; slug: string; body: Body },
  ): Promise<DocumentRow> {
    const key = bodyKey(target.id);
    try {
      return await this.transactions.run(async (transaction) => {
        await lockAdminRole(scope, 'create documents', transaction);
        const row = await insertRow(scope, target, members, transaction);
        await this.deletions.keep(key, transaction);
        await crashPoint('create:inserted');
        return row;
      });
    } catch (error) {
      // After a lost connection the transaction may have committed: then the body must stay.
      if (isConstraintViolation(error) || error instanceof DomainError) await this.discard(key);
      throw error;
    }
  }

  private async discard(key: string): Promise<void> {
    try {
      await this.deletions.note([key], this.dataSource.manager);
      await this.deletions.removePromptly([key]);
    } catch (error) {
      this.logger.warn({ reason: errorMessage(error) }, 'a body is left until its reservation ends');
    }
  }

  /** Adds the bodies of projects that are being deleted to the deletion queue. */
  private async releaseAll(which: ProjectsDeleting['which'], transaction: EntityManager): Promise<void> {
    const [condition, id] =
      'projectId' in which ? [BY_PROJECT, which.projectId] : [BY_ORGANIZATION, which.organizationId];
    const [locked] = await transaction.query<{ first: string[] }[]>(lockAll(condition), [id, BODY_PREFIX]);
    await this.releaseBodies(condition, id, transaction);
    await crashPoint('delete project:noted');
    this.transactions.afterCommit(transaction, async () => {
      await crashPoint('delete project:committed');
      await this.deletions.removePromptly(locked!.first);
    });
  }

  /** Adds the bodies of locked rows to the deletion queue; `unsettled` bodies are those with an intent. */
  private releaseBodies(condition: string, id: number, transaction: EntityManager): Promise<void> {
    const bodies = `SELECT $2 || id AS key,
        EXISTS (SELECT FROM document_updates u WHERE u.document_id = d.id) AS unsettled
      FROM documents d WHERE ${condition}`;
    return this.deletions.noteSelected(bodies, [id, BODY_PREFIX], transaction);
  }
}

/** Locks documents, after any deletion of one of them in progress. Returns the keys of the bodies to remove promptly. */
function lockAll(condition: string): string {
  return `SELECT coalesce((array_agg($2 || id))[1:${PROMPT_REMOVAL_KEYS}], '{}') AS first
    FROM (SELECT id FROM documents WHERE ${condition} ORDER BY id FOR UPDATE) AS locked`;
}
