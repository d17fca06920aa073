import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';

/** Document as lists have it, without its text. */
export type DocumentSummary = Schemas['DocumentSummary'];

/** Document with the ETag of its version. */
export interface LoadedDocument extends Readonly<Schemas['Document']> {
  readonly etag: string;
}

const LIST = '/me/organizations/{id}/projects/{project_id}/documents';
const ONE = '/me/organizations/{id}/projects/{project_id}/documents/{document_id}';

/** Place of a document. */
export interface DocumentAddress {
  readonly owner: number;
  readonly project: number;
  readonly document: number;
}

/** All documents of a project, without contents. */
export const documentsQuery = (owner: number, project: number) =>
  queryOptions({
    queryKey: ['documents', owner, project],
    queryFn: async () =>
      (await take(api.GET(LIST, { params: { path: { id: owner, project_id: project } } }))).documents,
  });

/** @param cache `reload` if the version in the browser's cache was rejected */
export async function loadDocument(address: DocumentAddress, cache?: RequestCache): Promise<LoadedDocument> {
  const { data, response } = await api.GET(ONE, { params: { path: pathOf(address) }, cache });
  return { ...data!, etag: response.headers.get('ETag')! };
}

/** Creates a document and adds it to the list. Throws an `ApiError` if the service rejects the document. */
export async function createDocument(
  owner: number,
  project: number,
  body: Schemas['CreateDocument'],
): Promise<Schemas['Document']> {
  const path = { id: owner, project_id: project };
  const document = await take(api.POST(LIST, { params: { path }, body }));
  changeList(owner, project, (documents) => [...documents, summaryOf(document)]);
  return document;
}

/** @param etag version that the change is based on; another version on the service is rejected with 412 */
export async function updateDocument(
  address: DocumentAddress,
  body: Schemas['UpdateDocument'],
  etag: string,
): Promise<LoadedDocument> {
  const params = { path: pathOf(address), header: { 'If-Match': etag } };
  const { data, response } = await api.PUT(ONE, { params, body });
  const document = { ...data!, etag: response.headers.get('ETag')! };
  changeList(address.owner, address.project, (documents) =>
    documents.map((other) => (other.id === document.id ? summaryOf(document) : other)),
  );
  return document;
}

/** Deletes a document and removes it from the list. */
export async function deleteDocument(address: DocumentAddress): Promise<void> {
  await take(api.DELETE(ONE, { params: { path: pathOf(address) } }));
  changeList(address.owner, address.project, (documents) =>
    documents.filter(({ id }) => id !== address.document),
  );
}

function pathOf({ owner, project, document }: DocumentAddress) {
  return { id: owner, project_id: project, document_id: document };
}

function summaryOf({
  id,
  project_id,
  title,
  slug,
  created_at,
  updated_at,
}: DocumentSummary): DocumentSummary {
  return { id, project_id, title, slug, created_at, updated_at };
}

function changeList(
  owner: number,
  project: number,
  change: (documents: DocumentSummary[]) => DocumentSummary[],
): void {
  const { queryKey } = documentsQuery(owner, project);
  queryClient.setQueryData(queryKey, (documents) => documents && change(documents));
}
