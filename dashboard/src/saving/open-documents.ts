import { ApiError } from '../api/errors';
import { UNAUTHORIZED } from '../api/statuses';
import { loadDocument, updateDocument } from '../documents/queries';
import type { DocumentAddress, LoadedDocument } from '../documents/queries';
import { rememberContent } from '../links/contents';
import { sessions } from '../session/store';
import { adoptDrafts, createSlot } from './draft-slot';
import type { AdoptedDraft, DraftSlot } from './draft-slot';
import { leftovers } from './leftovers';
import { takeTurn } from './locks';
import { DocumentSaver } from './saver';

/** Document as a page opens it. The saver has the text, which can be newer than that of the document. */
export interface OpenedDocument {
  readonly document: LoadedDocument;
  readonly saver: DocumentSaver;
}

/** Document that a page shows, or whose text is neither saved nor kept by the browser yet. */
interface Entry {
  readonly key: string;
  readonly userId: string;
  readonly saver: DocumentSaver;
  slot: DraftSlot;
  /** Further drafts, which are merged one after the other. */
  readonly further: AdoptedDraft[];
  pages: number;
}

const entries = new Map<string, Entry>();

/** Opens a document together with the drafts that earlier visits left. */
export async function openDocument(address: DocumentAddress, userId: string): Promise<OpenedDocument> {
  const key = `${userId} ${address.document}`;
  const drafts = entries.has(key) ? [] : await takeTurn(() => adoptDrafts(userId, address));
  try {
    const document = await loadDocument(address);
    const slot = await createSlot({ userId, address, title: document.title, slug: document.slug });
    const entry = entries.get(key) ?? createEntry(key, address, userId, document, slot);
    if (entry.slot !== slot) void slot.close();
    if (entry.pages === 0) entry.saver.refresh(document);
    resume(entry, drafts);
    if (drafts.length > 0) leftovers.announce();
    return { document, saver: entry.saver };
  } catch (error) {
    await Promise.all(drafts.map(({ slot }) => slot.close()));
    leftovers.scan();
    throw error;
  }
}

/** Keeps the saver for a page. Returns the function that ends this. */
export function retain(saver: DocumentSaver): () => void {
  const entry = [...entries.values()].find((one) => one.saver === saver);
  if (!entry) return () => undefined;
  entry.pages++;
  reviewNext(entry);
  return () => {
    entry.pages--;
    void saver.saveNow().finally(() => void leave(entry));
  };
}

function createEntry(
  key: string,
  address: DocumentAddress,
  userId: string,
  document: LoadedDocument,
  slot: DraftSlot,
): Entry {
  const saver = new DocumentSaver(document, {
    // A cached version can be current by its ETag while the service has an unfinished update.
    load: () => loadDocument(address, 'reload'),
    save: async (change, etag) => {
      requireSession(userId);
      const saved = await updateDocument(address, change, etag);
      rememberContent(address.owner, address.project, saved.slug, saved.content);
      return saved;
    },
    storeDraft: (draft) => entry.slot.write(draft),
  });
  const entry: Entry = { key, userId, saver, slot, further: [], pages: 0 };
  entries.set(key, entry);
  saver.subscribe(() => queueMicrotask(() => reviewNext(entry)));
  return entry;
}

/** Another person who signs in in this tab must not save the text of the first one. */
function requireSession(userId: string): void {
  if (sessions.current()?.userId !== userId)
    throw new ApiError(UNAUTHORIZED, undefined, 'the session has ended', null);
}

/** Continues the newest draft. The others follow when it is saved. */
function resume(entry: Entry, drafts: readonly AdoptedDraft[]): void {
  entry.further.push(...drafts);
  while (entry.pages === 0 && entry.saver.snapshot().status === 'saved' && entry.further.length > 0) {
    const { slot, draft } = entry.further.shift()!;
    void entry.slot.close();
    entry.slot = slot;
    entry.saver.resume(draft);
  }
}

/** Shows the next draft as soon as the text before it is saved. */
function reviewNext(entry: Entry): void {
  if (entry.saver.snapshot().status !== 'saved') return;
  if (entry.pages === 0) return;
  const next = entry.further.shift();
  if (!next) return;
  void entry.slot.close();
  entry.slot = next.slot;
  entry.saver.review(next.draft);
  reviewNext(entry);
}

/** Hands a text that is not saved to the leftover drafts. Without storage, the saver goes on trying. */
async function leave(entry: Entry): Promise<void> {
  if (entry.pages > 0 || entries.get(entry.key) !== entry) return;
  const isSaved = entry.saver.snapshot().status === 'saved';
  if (!isSaved && !entry.slot.isKept) {
    const unsubscribe = entry.saver.subscribe(() => {
      if (entry.saver.snapshot().status !== 'saved') return;
      unsubscribe();
      void leave(entry);
    });
    return;
  }
  entry.saver.stop();
  entries.delete(entry.key);
  const slots = [entry.slot, ...entry.further.map(({ slot }) => slot)];
  await Promise.all(slots.map((slot) => slot.close()));
  if (!isSaved || entry.further.length > 0) leftovers.announce();
}

function saveAll(): void {
  for (const { saver } of entries.values()) void saver.saveNow();
}

sessions.subscribe(() => {
  const userId = sessions.current()?.userId;
  for (const entry of entries.values())
    if (entry.userId === userId && entry.saver.snapshot().status === 'waiting') void entry.saver.saveNow();
});
window.addEventListener('online', saveAll);
window.addEventListener('pagehide', saveAll);
window.addEventListener('beforeunload', (event) => {
  const isLost = ({ saver, slot }: Entry) => saver.snapshot().status !== 'saved' && !slot.isKept;
  if ([...entries.values()].some(isLost)) event.preventDefault();
});
