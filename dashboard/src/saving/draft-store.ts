import { createStore, promisifyRequest } from 'idb-keyval';
import type { DocumentAddress } from '../documents/queries';
import { Store } from '../text/store';

/** Text that the service does not have yet. */
export interface Draft {
  readonly content: string;
  /** Version that the text is based on. */
  readonly baseContent: string;
  readonly baseEtag: string;
  /** Title that the service does not have yet, if there is one. */
  readonly newTitle?: string;
}

/** Place of a draft. People who share a browser do not see each other's drafts, and each window has drafts of its own. */
export interface DraftKey {
  readonly userId: string;
  readonly address: DocumentAddress;
  /** Id of the opening of the document that wrote the draft. */
  readonly slot: string;
}

/** Draft as the browser stores it. */
export interface StoredDraft extends DraftKey, Draft {
  readonly title: string;
  readonly slug: string;
  /** Unix time in milliseconds. */
  readonly changedAt: number;
}

/** A browser can also leave a request to its storage without a response. */
const READ_TIMEOUT_MS = 10_000;

const store = createStore('mintkeep-drafts', 'drafts');

/** Whether the last access to the browser's storage failed, because it is full or not available. */
export const isStorageFailing = new Store(false);

/** Drafts of a person, or of one document of the person, the newest first. */
export async function listDrafts(userId: string, document?: number): Promise<StoredDraft[]> {
  const prefix = document === undefined ? [userId] : [userId, document];
  const range = () => IDBKeyRange.bound(prefix, [...prefix, []]);
  const read = attempt(() =>
    store('readonly', (drafts) => promisifyRequest<StoredDraft[]>(drafts.getAll(range()))),
  );
  const drafts = (await withTimeout(read)) ?? [];
  return drafts.filter(({ slot }) => slot !== undefined).sort((a, b) => b.changedAt - a.changedAt);
}

/** Reads a draft; undefined if there is none or the storage fails. */
export async function readDraft(key: DraftKey): Promise<StoredDraft | undefined> {
  return attempt(() => store('readonly', (drafts) => promisifyRequest<StoredDraft>(drafts.get(keyOf(key)))));
}

/** @returns whether the browser has stored the draft */
export function putDraft(draft: StoredDraft): Promise<boolean> {
  return write((drafts) => drafts.put(draft, keyOf(draft)));
}

/** @returns whether the browser has removed the draft */
export function removeDraft(key: DraftKey): Promise<boolean> {
  return write((drafts) => drafts.delete(keyOf(key)));
}

/** Puts a draft into another slot, in one step. */
export function moveDraft(draft: StoredDraft, slot: string): Promise<boolean> {
  return write((drafts) => {
    drafts.put({ ...draft, slot }, keyOf({ ...draft, slot }));
    drafts.delete(keyOf(draft));
  });
}

const keyOf = ({ userId, address, slot }: DraftKey): IDBValidKey => [userId, address.document, slot];

async function write(change: (drafts: IDBObjectStore) => void): Promise<boolean> {
  const done = await attempt(() =>
    store('readwrite', async (drafts) => {
      change(drafts);
      // Without this, the commit waits for one more task of the page, which may be the last one.
      drafts.transaction.commit();
      await promisifyRequest(drafts.transaction);
      return true;
    }),
  );
  return done ?? false;
}

/** A browser without storage still saves to the service, so failures are reported but not thrown. */
async function attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    const result = await action();
    isStorageFailing.set(false);
    return result;
  } catch {
    isStorageFailing.set(true);
    return undefined;
  }
}

function withTimeout<T>(result: Promise<T>): Promise<T | undefined> {
  const timeout = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), READ_TIMEOUT_MS);
  });
  return Promise.race([result, timeout]);
}
