import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager } from 'typeorm';
import { Repository } from 'typeorm';
import { assertMatch } from '../common/conditional.js';
import { crashPoint } from '../common/crash-point.js';
import { NotFound } from '../common/domain-error.js';
import { messagesOf } from '../common/messages-of.js';
import { PreparedQueries } from '../database/prepared.js';
import { lockNotAvailable, violatesConstraint, violatesForeignKey } from '../database/sql-states.js';
import { Transactions } from '../database/transactions.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { ProjectsDeleting, ProjectsService } from '../projects/projects.service.js';
import { DeletionQueue, PROMPT_REMOVAL_KEYS } from '../storage/deletion-queue.js';
import { DocumentBodies } from './document-bodies.js';
import { BODY_PREFIX, bodyKey, entityTag, toBody } from './document-body.js';
import type { DocumentWithContent } from './document-body.js';
import { DocumentLock } from './document-lock.js';
import { DocumentRecovery } from './document-recovery.js';
import { lockRow, slugTakenOr } from './document-rows.js';
import type { DocumentTarget } from './document-rows.js';
import { DocumentUpdater } from './document-updater.js';
import { Document } from './document.entity.js';
import type { CreateDocumentDto, UpdateDocumentDto } from './dto/document.requests.js';
import type { DocumentSummaryResponse } from './dto/document.response.js';

const SEQUENCE = 'documents_id_seq';

const LIST = {
  name: 'documents.list',
  text: `SELECT id, project_id, title, slug, created_at, updated_at
         FROM documents WHERE project_id = $1 AND organization_id = $2 ORDER BY id`,
};

/** Which documents, by the id of what they are of. There may be a million: no process has to know them all. */
const DOCUMENT = 'id = $1';
const OF_PROJECT = 'project_id = $1';
const OF_ORGANIZATION = 'project_id IN (SELECT id FROM projects WHERE organization_id = $1)';

/** A row as the entity has it. */
const GET = {
  name: 'documents.get',
  text: `SELECT id, organization_id AS "organizationId", project_id AS "projectId", title, slug,
           body_sha256 AS "bodySha256", body_size AS "bodySize", version,
           created_at AS "createdAt", updated_at AS "updatedAt"
         FROM documents WHERE id = $1 AND project_id = $2 AND organization_id = $3`,
};

/** Documents of a project. What belongs to another owner, or to another project, does not exist. */
@Injectable()
export class DocumentsService implements OnModuleInit {
  private readonly logger = new Logger(DocumentsService.name);

  constructor(
    @InjectRepository(Document) private readonly documents: Repository<Document>,
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

  /** Without their bodies. @throws NotFound when there is no such project */
  async list(scope: OwnerScope, projectId: number): Promise<DocumentSummaryResponse[]> {
    const rows = await this.queries.rows<DocumentSummaryResponse>(LIST, [projectId, scope.organizationId]);
    if (rows.length === 0) await this.projects.get(scope, projectId); // an empty project, or none
    return rows;
  }

  /** The row alone. @throws NotFound */
  async get(scope: OwnerScope, projectId: number, id: number): Promise<Document> {
    const [document] = await this.queries.rows<Document>(GET, [id, projectId, scope.organizationId]);
    if (!document) throw new NotFound();
    return document;
  }

  /**
   * Adds the body to a row that was just read. Should an update have come in between, row and body are read
   * again, and then once more with updates held off: what is returned always belongs together.
   * @throws NotFound when it was deleted meanwhile @throws BodyLost
   */
  async withContent(scope: OwnerScope, row: Document): Promise<DocumentWithContent> {
    let document = row;
    for (let attempt = 0; attempt < 2; attempt++) {
      const content = await this.bodies.matching(document);
      if (content !== undefined) return { document, content };
      document = await this.get(scope, row.projectId, row.id);
    }
    return this.lock.transaction(row.id, async (locked) =>
      this.recovery.settle(await lockRow(locked.manager, scope, row), locked),
    );
  }

  /** @throws NotFound when there is no such project @throws SlugTaken */
  async create(
    scope: OwnerScope,
    projectId: number,
    fields: CreateDocumentDto,
  ): Promise<DocumentWithContent> {
    await this.projects.get(scope, projectId);
    const { title, slug, content = '' } = fields;
    const { organizationId } = scope;
    const body = toBody(content);
    const id = await this.deletions.reserve(BODY_PREFIX, SEQUENCE);
    await crashPoint('create:reserved');
    await this.bodies.put(id, body);
    await crashPoint('create:stored');
    const { bodySha256, bodySize } = body;
    const document = this.documents.create({
      id,
      organizationId,
      projectId,
      title,
      slug,
      bodySha256,
      bodySize,
    });
    await this.insert(document);
    await crashPoint('create:committed');
    return { document, content };
  }

  /** @throws NotFound @throws SlugTaken @throws PreconditionFailed */
  async update(
    scope: OwnerScope,
    target: DocumentTarget,
    changes: UpdateDocumentDto,
  ): Promise<DocumentWithContent> {
    await this.get(scope, target.projectId, target.id); // whose document it is not does not get to its lock
    return this.updater.update(scope, target, changes);
  }

  /** @throws NotFound @throws PreconditionFailed */
  async delete(scope: OwnerScope, target: DocumentTarget): Promise<void> {
    try {
      await this.documents.manager.transaction((manager) => this.deleteRow(manager, scope, target, 'nowait'));
    } catch (error) {
      if (!lockNotAvailable(error)) throw error;
      // An update is under way: wait for it among those who may wait for the storage.
      await this.lock.patientTransaction(target.id, ({ manager }) => this.deleteRow(manager, scope, target));
    }
    await crashPoint('delete:committed');
    await this.deletions.removePromptly([bodyKey(target.id)]);
  }

  private async deleteRow(
    manager: EntityManager,
    scope: OwnerScope,
    target: DocumentTarget,
    onLocked?: 'nowait',
  ): Promise<void> {
    const row = await lockRow(manager, scope, target, onLocked);
    assertMatch(target.ifMatch, entityTag(row));
    await this.release(DOCUMENT, row.id, manager);
    await manager.delete(Document, { id: row.id });
    await crashPoint('delete:noted');
  }

  /**
   * Row in, reservation out, in one transaction. What fails here leaves a body that nobody will miss. An update that
   * waits for object storage may have the slug for now.
   */
  private async insert(document: Document): Promise<void> {
    const key = bodyKey(document.id);
    try {
      await this.transactions.run(async (transaction) => {
        await transaction.insert(Document, document);
        await this.deletions.keep(key, transaction);
        await crashPoint('create:inserted');
      });
    } catch (error) {
      // After a lost connection the row may be there all the same: then the body is not ours to discard.
      if (violatesConstraint(error)) await this.discard(key);
      if (violatesForeignKey(error, 'documents_project_id_organization_id_fkey')) throw new NotFound();
      throw slugTakenOr(error);
    }
  }

  private async discard(key: string): Promise<void> {
    try {
      await this.deletions.note([key], this.documents.manager);
      await this.deletions.removePromptly([key]);
    } catch (error) {
      this.logger.warn({ reason: messagesOf(error) }, 'a reservation is left to run out');
    }
  }

  /** Hands the bodies of projects that are about to go to the deletion queue. */
  private async releaseAll(which: ProjectsDeleting['which'], transaction: EntityManager): Promise<void> {
    const [condition, id] =
      'projectId' in which ? [OF_PROJECT, which.projectId] : [OF_ORGANIZATION, which.organizationId];
    const [locked] = await transaction.query<{ first: string[] }[]>(lockAll(condition), [id, BODY_PREFIX]);
    await this.release(condition, id, transaction);
    await crashPoint('delete project:noted');
    this.transactions.afterCommit(transaction, async () => {
      await crashPoint('delete project:committed');
      await this.deletions.removePromptly(locked!.first);
    });
  }

  /** Notes the bodies of documents whose rows are locked and about to go; those that an update may yet replace are unsettled. */
  private release(condition: string, id: number, transaction: EntityManager): Promise<void> {
    const bodies = `SELECT $2 || id AS key,
        EXISTS (SELECT FROM document_updates u WHERE u.document_id = d.id) AS unsettled
      FROM documents d WHERE ${condition}`;
    return this.deletions.noteSelected(bodies, [id, BODY_PREFIX], transaction);
  }
}

/** Locks documents: who is deleting one of them has its turn first. Tells the keys of as many as are deleted promptly. */
function lockAll(condition: string): string {
  return `SELECT coalesce((array_agg($2 || id))[1:${PROMPT_REMOVAL_KEYS}], '{}') AS first
    FROM (SELECT id FROM documents WHERE ${condition} ORDER BY id FOR UPDATE) AS locked`;
}
