import type { DocumentAddress } from '../documents/queries';
import { listDrafts, moveDraft, putDraft, readDraft, removeDraft } from './draft-store';
import type { Draft, DraftKey, StoredDraft } from './draft-store';
import { acquireSlot, hasLocks, newSlotId } from './locks';

/** Document of a slot, with the names that lists of drafts show. */
export interface SlotOwner {
  readonly userId: string;
  readonly address: DocumentAddress;
  readonly title: string;
  readonly slug: string;
}

/** Draft that this window took over. */
export interface AdoptedDraft {
  readonly slot: DraftSlot;
  readonly draft: Draft;
}

/** Place for one draft, which no other window writes to. Of several changes that wait, only the last is written. */
export class DraftSlot {
  private next: { readonly draft: Draft | undefined } | undefined;
  private isWriting = false;
  private written: Promise<void> = Promise.resolve();
  private isStored = true;

  constructor(
    private readonly owner: SlotOwner,
    private readonly slot: string,
    private readonly unlock: () => void,
  ) {}

  /** Whether the browser stored the last change, as far as it is known. */
  get isKept(): boolean {
    return this.isStored;
  }

  /** @param draft undefined removes the draft, because the service has the text */
  write(draft: Draft | undefined): void {
    this.next = { draft };
    if (!this.isWriting) this.written = this.writeAll();
  }

  /** Leaves the draft to other windows and later visits. */
  async close(): Promise<void> {
    await this.written;
    this.unlock();
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.next) {
      const { draft } = this.next;
      this.next = undefined;
      const key: DraftKey = { userId: this.owner.userId, address: this.owner.address, slot: this.slot };
      this.isStored = draft
        ? await putDraft({ ...key, ...draft, ...namesOf(this.owner), changedAt: Date.now() })
        : await removeDraft(key);
    }
    this.isWriting = false;
  }
}

/** Creates a slot that belongs to this window. */
export async function createSlot(owner: SlotOwner): Promise<DraftSlot> {
  const slot = newSlotId();
  const unlock = await acquireSlot(slot);
  return new DraftSlot(owner, slot, unlock!);
}

/** Takes over the drafts of a document that no open window has, the newest first. */
export async function adoptDrafts(userId: string, address: DocumentAddress): Promise<AdoptedDraft[]> {
  const adopted: AdoptedDraft[] = [];
  for (const draft of await listDrafts(userId, address.document)) {
    const one = await adoptDraft(draft);
    if (one) adopted.push(one);
  }
  return adopted;
}

async function adoptDraft(listed: StoredDraft): Promise<AdoptedDraft | undefined> {
  const unlock = await acquireSlot(listed.slot);
  if (!unlock) return undefined;
  // Another window may have saved the text before it released the lock.
  const draft = await readDraft(listed);
  if (!draft) return void unlock();
  if (hasLocks()) return { slot: new DraftSlot(draft, draft.slot, unlock), draft };
  // Without locks, another window may still write to the slot.
  unlock();
  const slot = newSlotId();
  const unlockNew = await acquireSlot(slot);
  await moveDraft(draft, slot);
  return { slot: new DraftSlot(draft, slot, unlockNew!), draft };
}

function namesOf({ title, slug }: SlotOwner): Pick<SlotOwner, 'title' | 'slug'> {
  return { title, slug };
}
