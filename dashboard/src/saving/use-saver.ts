import { useEffect, useSyncExternalStore } from 'react';
import { isStorageFailing } from './draft-store';
import { retain } from './open-documents';
import type { SaveState } from './save-state';
import type { DocumentSaver } from './saver';

/** Keeps the saver as long as the page is open, and renders the page when its state changes. */
export function useSaver(saver: DocumentSaver): SaveState {
  useEffect(() => retain(saver), [saver]);
  return useSyncExternalStore(saver.subscribe, saver.snapshot);
}

/** Whether the browser cannot keep drafts. */
export function useIsStorageFailing(): boolean {
  return useSyncExternalStore(isStorageFailing.subscribe, isStorageFailing.snapshot);
}
