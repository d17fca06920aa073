import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { NotFound } from '../common/api/domain-error.js';
import { FairSemaphore } from '../common/async/fair-semaphore.js';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { ProjectsService } from '../projects/projects.service.js';
import { DocumentsService } from './documents.service.js';
import type { ArchiveEntry } from './export/archive.js';
import { archiveFileName, documentFileName } from './export/file-names.js';
import { frontMatter } from './export/front-matter.js';
import { LIST_ROWS } from './store/document-rows.js';
import type { DocumentRow } from './store/document-rows.js';
import { TooManyExports } from './store/documents.errors.js';

/** Part of the entity tag. Change it with the bytes that the same documents give. */
const FORMAT = 1;
/** Bodies that are read ahead of the one that is being written. */
const READ_AHEAD = 4;
/** Archives that a replica writes at once; each holds up to {@link READ_AHEAD} bodies of 1 MiB. */
const EXPORTS_PER_REPLICA = 16;
const EXPORTS_PER_ORGANIZATION = 4;
const WAITING_PER_ORGANIZATION = 20;
const WAIT_TIMEOUT_MS = 10_000;

/** An export that was not read yet. */
export interface Export {
  readonly fileName: string;
  /** Strong entity tag of the archive. */
  readonly entityTag: string;
  /** The files, read one after the other. A document that is deleted meanwhile is left out. */
  entries(): AsyncGenerator<ArchiveEntry>;
}

/** Exports of projects as archives. */
@Injectable()
export class ProjectExport {
  private readonly slots = new FairSemaphore<number>({
    capacity: EXPORTS_PER_REPLICA,
    perKey: EXPORTS_PER_ORGANIZATION,
    waitingPerKey: WAITING_PER_ORGANIZATION,
    timeoutMs: WAIT_TIMEOUT_MS,
    rejection: () => new TooManyExports(),
  });

  constructor(
    private readonly projects: ProjectsService,
    private readonly documents: DocumentsService,
    private readonly queries: PreparedQueries,
  ) {}

  /**
   * @param withFrontMatter whether each file begins with the title and the times of its document
   * @throws NotFound when there is no such project
   */
  async prepare(scope: OwnerScope, projectId: number, withFrontMatter: boolean): Promise<Export> {
    const { name } = await this.projects.get(scope, projectId);
    const rows = await this.queries.rows<DocumentRow>(LIST_ROWS, [projectId, scope.organizationId]);
    return {
      fileName: archiveFileName(name),
      entityTag: entityTag(rows, withFrontMatter),
      entries: () => this.read(scope, rows, withFrontMatter),
    };
  }

  /** Runs the task when there is room for another export. @throws TooManyExports */
  limit<T>({ organizationId }: OwnerScope, task: () => Promise<T>): Promise<T> {
    return this.slots.run(organizationId, task);
  }

  private async *read(
    scope: OwnerScope,
    rows: readonly DocumentRow[],
    withFrontMatter: boolean,
  ): AsyncGenerator<ArchiveEntry> {
    const reading: Promise<ArchiveEntry | undefined>[] = [];
    const waiting = rows.values();
    const readNext = () => {
      const next = waiting.next();
      if (next.done) return;
      const entry = this.readEntry(scope, next.value, withFrontMatter);
      entry.catch(() => undefined); // reported when it is its turn
      reading.push(entry);
    };
    for (let i = 0; i < READ_AHEAD; i++) readNext();
    for (let entry = reading.shift(); entry; entry = reading.shift()) {
      const read = await entry;
      readNext();
      if (read) yield read;
    }
  }

  /** Undefined when the document was deleted meanwhile. The file keeps the slug of the list, which is unique in it. */
  private async readEntry(
    scope: OwnerScope,
    listed: DocumentRow,
    withFrontMatter: boolean,
  ): Promise<ArchiveEntry | undefined> {
    try {
      const { row, content } = await this.documents.withContent(scope, listed);
      const text = withFrontMatter ? frontMatter(row) + content : content;
      const name = documentFileName(listed.slug);
      return { name, content: Buffer.from(text), modifiedAt: new Date(row.updated_at) };
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }
}

/** Hashes everything that the archive is made of, and the version of the compression. */
function entityTag(rows: readonly DocumentRow[], withFrontMatter: boolean): string {
  const hash = createHash('sha256').update(`${FORMAT} ${process.versions.zlib} ${withFrontMatter}\n`);
  for (const { slug, title, created_at, updated_at, body_sha256 } of rows) {
    hash.update(JSON.stringify([slug, title, created_at, updated_at])).update(body_sha256);
  }
  return `"${hash.digest('base64url')}"`;
}
