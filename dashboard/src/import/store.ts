import { createDocument, loadDocument, updateDocument } from '../documents/queries';
import type { Store } from './upload';

/** Stores documents of a project, each by one request. */
export function storeIn(owner: number, project: number): Store {
  return async ({ title, slug, content, replaces }) => {
    if (replaces === undefined) return createDocument(owner, project, { title, slug, content });
    const address = { owner, project, document: replaces };
    const { etag } = await loadDocument(address);
    return updateDocument(address, { title, content }, etag);
  };
}
