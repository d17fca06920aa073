import type { Buffer } from 'node:buffer';
import type { EntityManager } from 'typeorm';
import { NotFound } from '../../common/api/domain-error.js';
import { advancedUpdatedAt } from '../../database/connection/columns.js';
import { assertWithinCap } from '../../database/transactions/caps.js';
import type { Cap } from '../../database/transactions/caps.js';
import { translateViolation } from '../../database/transactions/translate-violation.js';
import type { OwnerScope } from '../../organizations/scope/owner-scope.js';
import type { DocumentSummaryResponse } from './dto/document.response.js';
import type { Body } from './document-body.js';
import { DOCUMENTS_MAX, SlugTaken, TooManyDocuments } from './documents.errors.js';

/** Row of a document: the members of a response, and the columns that tie the row to its body and entity tag. */
export interface DocumentRow extends DocumentSummaryResponse {
  /** SHA-256 of the body that belongs to this row. */
  readonly body_sha256: Buffer;
  /** Number of updates plus 1. */
  readonly version: number;
}

/** Row of a document with the body that belongs to it. */
export interface DocumentWithContent {
  readonly row: DocumentRow;
  readonly content: string;
}

/** Document that a request addresses, and the condition of the request. */
export interface DocumentTarget {
  readonly projectId: number;
  readonly id: number;
  /** Header `If-Match` of the request. */
  readonly ifMatch?: string;
}

/** Members to change; null and undefined leave a member unchanged. */
export interface RowChange {
  readonly title?: string | null;
  readonly slug?: string | null;
  readonly body?: Pick<Body, 'bodySha256' | 'bodySize'>;
}

const SUMMARY = 'id, project_id, title, slug, created_at, updated_at';
const ROW = `${SUMMARY}, body_sha256, version`;
const BY_TARGET = 'id = $1 AND project_id = $2 AND organization_id = $3';

/** All documents of a project, as lists show them. */
export const LIST = {
  name: 'documents.list',
  text: `SELECT ${SUMMARY} FROM documents WHERE project_id = $1 AND organization_id = $2 ORDER BY id`,
};

/** {@link LIST} with the columns that tie the rows to their bodies. */
export const LIST_ROWS = {
  name: 'documents.list_rows',
  text: `SELECT ${ROW} FROM documents WHERE project_id = $1 AND organization_id = $2 ORDER BY slug, id`,
};

/** A document of a project. */
export const GET = { name: 'documents.get', text: `SELECT ${ROW} FROM documents WHERE ${BY_TARGET}` };

const INSERT = `
  INSERT INTO documents (organization_id, project_id, id, title, slug, body_sha256, body_size)
  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${ROW}`;

const UPDATE = `
  UPDATE documents SET title = coalesce($2, title), slug = coalesce($3, slug),
    body_sha256 = coalesce($4, body_sha256), body_size = coalesce($5, body_size),
    version = version + 1, updated_at = ${advancedUpdatedAt()}
  WHERE id = $1 RETURNING ${ROW}`;

const VIOLATIONS = {
  documents_project_id_slug_key: SlugTaken,
  documents_project_id_organization_id_fkey: NotFound,
};

const DOCUMENTS_CAP: Cap = {
  objects: 'documents',
  max: DOCUMENTS_MAX,
  rows: 'FROM documents WHERE project_id = $1',
  Rejection: TooManyDocuments,
};

/** Strong entity tag (RFC 9110, section 8.8.3) of this version of the document. */
export function entityTag({ id, version }: DocumentRow): string {
  return `"${id}-${version}"`;
}

/** Adds a row for a body that is stored already. @throws NotFound when the project is gone @throws SlugTaken @throws TooManyDocuments */
export async function insertRow(
  { organizationId }: OwnerScope,
  { id, projectId }: DocumentTarget,
  { title, slug, body }: { title: string; slug: string; body: Body },
  transaction: EntityManager,
): Promise<DocumentRow> {
  const values = [organizationId, projectId, id, title, slug, body.bodySha256, body.bodySize];
  try {
    const [row] = await transaction.query<DocumentRow[]>(INSERT, values);
    await assertWithinCap(DOCUMENTS_CAP, projectId, transaction);
    return row!;
  } catch (error) {
    return translateViolation(error, VIOLATIONS);
  }
}

/**
 * Reads the row and locks it until the transaction ends.
 * @param onLocked how to treat a row that another transaction has locked
 * @throws NotFound
 * @throws QueryFailedError `lock_not_available` with `nowait` when another transaction has locked the row
 */
export async function lockRow(
  { organizationId }: OwnerScope,
  { id, projectId }: DocumentTarget,
  onLocked: 'wait' | 'nowait',
  transaction: EntityManager,
): Promise<DocumentRow> {
  const mode = onLocked === 'nowait' ? 'FOR UPDATE NOWAIT' : 'FOR UPDATE';
  const values = [id, projectId, organizationId];
  const [row] = await transaction.query<DocumentRow[]>(`${GET.text} ${mode}`, values);
  if (!row) throw new NotFound();
  return row;
}

/** {@link lockRow} for jobs, which act for no owner. Undefined when the document does not exist. */
export async function lockRowOfAnyOwner(
  id: number,
  transaction: EntityManager,
): Promise<DocumentRow | undefined> {
  const select = `SELECT ${ROW} FROM documents WHERE id = $1 FOR UPDATE`;
  const [row] = await transaction.query<DocumentRow[]>(select, [id]);
  return row;
}

/** Changes the row and its version. The slug is reserved until the transaction ends. @throws SlugTaken */
export async function changeRow(
  id: number,
  { title, slug, body }: RowChange,
  transaction: EntityManager,
): Promise<DocumentRow> {
  const values = [id, title, slug, body?.bodySha256, body?.bodySize];
  try {
    const [rows] = await transaction.query<[DocumentRow[], number]>(UPDATE, values);
    return rows[0]!;
  } catch (error) {
    return translateViolation(error, VIOLATIONS);
  }
}
