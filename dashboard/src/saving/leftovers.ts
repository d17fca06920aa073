import { loadDocument, updateDocument } from '../documents/queries';
import type { DocumentAddress } from '../documents/queries';
import { isApiError } from '../api/errors';
import { PRECONDITION_FAILED, UNAUTHORIZED } from '../api/statuses';
import { rememberContent } from '../links/contents';
import { sessions } from '../session/store';
import { Store } from '../text/store';
import { decide } from './decide';
import { listDrafts, readDraft, removeDraft } from './draft-store';
import type { DraftKey, StoredDraft } from './draft-store';
import { acquireSlot, hasLocks, takeTurn } from './locks';
import { isRejection } from './save-state';
import type { Change } from './save-state';
import { RETRY_MS } from './saver';

/** A draft as young as this may belong to an open window if the browser has no locks between windows. */
const ABANDONED_MS = 60_000;

/** Draft that needs a decision: a conflict if there is no error, else a text that the service rejects. */
export interface Leftover {
  readonly draft: StoredDraft;
  readonly error?: unknown;
}

type Outcome = Leftover | 'done' | 'later';

/** Saves drafts of documents that are not open, on each visit and when the service is back. */
class LeftoverDrafts {
  private readonly list = new Store<readonly Leftover[]>([]);
  private readonly channel = new BroadcastChannel('mintkeep-drafts');
  private running: Promise<void> | undefined;
  private isRequested = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  readonly snapshot = this.list.snapshot;
  readonly subscribe = this.list.subscribe;

  /** Follows session, connection and other windows until the returned function is called. */
  start(): () => void {
    const scan = () => this.scan();
    const unsubscribe = sessions.subscribe(scan);
    window.addEventListener('online', scan);
    this.channel.addEventListener('message', scan);
    scan();
    return () => {
      clearTimeout(this.timer);
      unsubscribe();
      window.removeEventListener('online', scan);
      this.channel.removeEventListener('message', scan);
    };
  }

  /** Looks at all drafts again, here and in other windows. */
  announce(): void {
    this.channel.postMessage('changed');
    this.scan();
  }

  scan(): void {
    this.isRequested = true;
    this.running ??= this.scanAll().finally(() => {
      this.running = undefined;
      if (this.isRequested) this.scan();
    });
  }

  /** Gives a draft up. */
  async discard(key: DraftKey): Promise<void> {
    await removeDraft(key);
    this.announce();
  }

  private async scanAll(): Promise<void> {
    this.isRequested = false;
    clearTimeout(this.timer);
    const userId = sessions.current()?.userId;
    const found: Leftover[] = [];
    let isWaiting = false;
    if (userId !== undefined) {
      for (const draft of await listDrafts(userId)) {
        const outcome = await takeTurn(() => this.trySend(draft));
        if (outcome === 'later') isWaiting = true;
        else if (outcome !== 'done') found.push(outcome);
      }
    }
    if (isWaiting) this.timer = setTimeout(() => this.scan(), RETRY_MS);
    if (found.length > 0 || this.list.snapshot().length > 0) this.list.set(found);
  }

  /** Leaves the drafts of open windows alone. */
  private async trySend(listed: StoredDraft): Promise<Outcome> {
    if (!hasLocks() && Date.now() - listed.changedAt < ABANDONED_MS) return 'later';
    const unlock = await acquireSlot(listed.slot);
    if (!unlock) return 'done';
    try {
      const draft = await readDraft(listed);
      return draft ? await send(draft) : 'done';
    } finally {
      unlock();
    }
  }
}

async function send(draft: StoredDraft): Promise<Outcome> {
  const { userId, address, content, baseContent, newTitle } = draft;
  try {
    const document = await loadDocument(address, 'reload');
    const decision = decide({ base: baseContent, own: content, server: document.content });
    if (decision === 'merge') return { draft };
    if (sessions.current()?.userId !== userId) return 'later';
    await store(address, { title: newTitle, ...(decision === 'save' && { content }) }, document.etag);
    await removeDraft(draft);
    return 'done';
  } catch (error) {
    // The next session starts another scan.
    if (isApiError(error, UNAUTHORIZED)) return 'done';
    return isRejection(error) && !isApiError(error, PRECONDITION_FAILED) ? { draft, error } : 'later';
  }
}

async function store(address: DocumentAddress, change: Change, etag: string): Promise<void> {
  if (change.title === undefined && change.content === undefined) return;
  const { slug, content } = await updateDocument(address, change, etag);
  rememberContent(address.owner, address.project, slug, content);
}

/** Drafts of all documents that no open window has. */
export const leftovers = new LeftoverDrafts();
