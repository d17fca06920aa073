import { useEffect, useState, useSyncExternalStore } from 'react';
import { loadDocument, updateDocument } from '../documents/queries';
import type { DocumentAddress, LoadedDocument } from '../documents/queries';
import { rememberContent } from '../links/contents';
import { useSession } from '../session/store';
import { decide } from './decide';
import { DraftWriter } from './drafts';
import type { Draft } from './drafts';
import { DocumentSaver } from './saver';
import type { SaveState } from './saver';

/** Document as it was opened: the version of the service, and the text that it did not get yet. */
export interface OpenedDocument {
  readonly document: LoadedDocument;
  readonly draft: Draft | undefined;
}

/** Text that the editor starts with: a draft, unless the service has it already. */
export function firstText({ document, draft }: OpenedDocument): string {
  if (!draft) return document.content;
  const decision = decide({ base: draft.baseContent, own: draft.content, server: document.content });
  return decision === 'save' || decision === 'merge' ? draft.content : document.content;
}

/** Saves the open document. The component has to be keyed by the document. */
export function useSaver(
  address: DocumentAddress,
  userId: string,
  { document, draft }: OpenedDocument,
): { saver: DocumentSaver; state: SaveState } {
  const [saver] = useState(() => createSaver(address, userId, document));
  const state = useSyncExternalStore(saver.subscribe, saver.snapshot);
  const { status } = useSession();
  useEffect(() => {
    if (draft) saver.resume(draft);
    return () => void saver.saveNow();
  }, [saver, draft]);
  useEffect(() => {
    if (status === 'signed-in' && saver.snapshot().status === 'waiting') void saver.saveNow();
  }, [status, saver]);
  useEffect(() => {
    const save = () => void saver.saveNow();
    window.addEventListener('online', save);
    window.addEventListener('pagehide', save);
    return () => {
      window.removeEventListener('online', save);
      window.removeEventListener('pagehide', save);
    };
  }, [saver]);
  return { saver, state };
}

function createSaver(address: DocumentAddress, userId: string, document: LoadedDocument): DocumentSaver {
  const drafts = new DraftWriter({ userId, document: document.id });
  return new DocumentSaver(document, {
    load: () => loadDocument(address),
    save: async (content, etag) => {
      const saved = await updateDocument(address, { content }, etag);
      rememberContent(address.owner, address.project, saved.slug, content);
      return saved;
    },
    storeDraft: (draft) => drafts.write(draft),
  });
}
