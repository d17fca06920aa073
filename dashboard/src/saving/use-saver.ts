import { useEffect, useSyncExternalStore } from 'react';
import { draftStorage } from './draft-store';
import { retain } from './open-documents';
import type { DocumentSaver, SaveState } from './saver';

/** Keeps the saver as long as the page is open, and renders the page when its state changes. */
export function useSaver(saver: DocumentSaver): SaveState {
  useEffect(() => retain(saver), [saver]);
  return useSyncExternalStore(saver.subscribe, saver.snapshot);
}

/** Whether the browser cannot keep drafts. */
export function useIsStorageFailing(): boolean {
  return useSyncExternalStore(draftStorage.subscribe, draftStorage.isFailing);
}
