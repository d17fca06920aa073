import { createStore, del, get, set } from 'idb-keyval';

/** Text that the service does not have yet. */
export interface Draft {
  readonly content: string;
  /** Version that the text is based on. */
  readonly baseContent: string;
  readonly baseEtag: string;
}

/** Place of a draft. People who share a browser do not see each other's drafts. */
export interface DraftKey {
  readonly userId: string;
  readonly document: number;
}

const store = createStore('mintkeep-drafts', 'drafts');

const keyOf = ({ userId, document }: DraftKey): IDBValidKey => [userId, document];

export function readDraft(key: DraftKey): Promise<Draft | undefined> {
  return get<Draft>(keyOf(key), store).catch(() => undefined);
}

/** Writes drafts one after the other. Of several that wait, only the last is written. */
export class DraftWriter {
  private next: { readonly draft: Draft | undefined } | undefined;
  private isWriting = false;

  constructor(private readonly key: DraftKey) {}

  /** @param draft undefined removes the draft, because the service has the text */
  write(draft: Draft | undefined): void {
    this.next = { draft };
    if (!this.isWriting) void this.writeAll();
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.next) {
      const { draft } = this.next;
      this.next = undefined;
      // A browser without storage still saves to the service.
      await (draft ? set(keyOf(this.key), draft, store) : del(keyOf(this.key), store)).catch(() => undefined);
    }
    this.isWriting = false;
  }
}
