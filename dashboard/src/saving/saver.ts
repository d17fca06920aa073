import { isApiError } from '../api/errors';
import { PRECONDITION_FAILED, UNAUTHORIZED } from '../api/statuses';
import { Store } from '../text/store';
import { decide } from './decide';
import type { Decision } from './decide';
import type { Draft } from './draft-store';
import { isRejection } from './save-state';
import type { Change, SaveState, SaveStatus, Version } from './save-state';
import { WorkingCopy } from './working-copy';

/** Connection of a saver to the service and to the browser's storage. */
export interface SaverPorts {
  load(): Promise<Version>;
  /** @throws ApiError 412 if the service has another version than `etag` */
  save(change: Change, etag: string): Promise<Version>;
  storeDraft(draft: Draft | undefined): void;
}

/** Pause after the last change before a save. */
export const AUTOSAVE_MS = 1_500;
/** Pause before a failed save is repeated. */
export const RETRY_MS = 3_000;

/**
 * Saves text and title a moment after the last change. Every change is stored as a draft first, so that nothing is lost
 * when the service or the browser fails. Texts of two people are merged; the title that is saved last wins.
 */
export class DocumentSaver {
  private readonly state = new Store<SaveState>({ status: 'saved' });
  private running: Promise<void> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly copy: WorkingCopy;

  constructor(
    base: Version,
    private readonly ports: SaverPorts,
  ) {
    this.copy = new WorkingCopy(base);
  }

  readonly snapshot = this.state.snapshot;
  readonly subscribe = this.state.subscribe;

  private get status(): SaveStatus {
    return this.state.snapshot().status;
  }

  /** Text of the editor. */
  get content(): string {
    return this.copy.content;
  }

  /** Title that the person typed, or that the service has. */
  get title(): string {
    return this.copy.title;
  }

  /** Number of times that the saver has replaced the text. An editor with the text before has to start again. */
  get replacements(): number {
    return this.copy.replacements;
  }

  /** Continues a draft of an earlier visit. Call it before an editor shows the text. */
  resume(draft: Draft): void {
    if (this.decideOn(draft) !== 'save') return this.review(draft);
    if (draft.newTitle !== undefined) this.copy.editTitle(draft.newTitle);
    this.edit(draft.content);
  }

  /** Lets the person merge a draft with the saved text, unless the service has the draft already. */
  review(draft: Draft): void {
    const decision = this.decideOn(draft);
    if (draft.newTitle !== undefined) this.copy.editTitle(draft.newTitle);
    if (decision === 'in-sync' || decision === 'take-server') return this.settle();
    const server = this.copy.base;
    // The draft keeps its base. With that of the service, a reload would overwrite the service's text.
    this.copy.rebase({ ...server, content: draft.baseContent, etag: draft.baseEtag });
    this.startMerge(draft.content, server);
  }

  /** Takes a newer version of the service while no editor is open and everything is saved. */
  refresh(version: Version): void {
    if (this.status !== 'saved') return;
    this.copy.reset(version);
  }

  /** Takes a change of the text. */
  edit(content: string): void {
    this.copy.edit(content);
    this.saveLater();
  }

  /** Takes a change of the title. An empty one is not saved. */
  editTitle(title: string): void {
    this.copy.editTitle(title);
    this.saveLater();
  }

  private saveLater(): void {
    this.storeDraft();
    if (this.status === 'conflict') return;
    if (this.status !== 'saving') this.change({ status: 'unsaved', error: this.state.snapshot().error });
    this.schedule(AUTOSAVE_MS);
  }

  /** Gives the text up, because the person keeps it in another place or deleted the document. */
  discard(): void {
    this.stop();
    this.copy.reset({ ...this.copy.base, content: this.copy.content });
    this.ports.storeDraft(undefined);
    this.change({ status: 'saved' });
  }

  /** Ends the attempts to save. */
  stop(): void {
    clearTimeout(this.timer);
  }

  /** Saves now, for example on Ctrl+S, or when service or session are back. */
  async saveNow(): Promise<void> {
    clearTimeout(this.timer);
    if (this.status === 'conflict') return;
    while (this.running) await this.running;
    const { isChanged, isUncertain } = this.copy;
    if (!isChanged && !isUncertain) return this.settle();
    // A lost request can have stored another text.
    const run = isChanged ? this.save() : this.compare();
    this.running = run.finally(() => (this.running = undefined));
    await this.running;
  }

  /** Ends a conflict with the text that the person chose. */
  async finishMerge(content: string, server: Version): Promise<void> {
    this.copy.rebase(server);
    this.copy.replace(content);
    this.storeDraft();
    this.change({ status: 'unsaved' });
    await this.saveNow();
  }

  /** Runs another change of the document, such as that of its title, between two saves. */
  async exclusively(action: (etag: string) => Promise<Version>): Promise<void> {
    while (this.running) await this.running;
    const run = action(this.copy.base.etag).then((version) => {
      // With another text, the old version has to stay, so that the next save leads to a merge.
      if (version.content === this.copy.base.content) this.copy.rebase(version);
    });
    this.running = run.catch(() => undefined).finally(() => (this.running = undefined));
    await run;
  }

  /** @param isRepeated whether the service rejected the version a moment ago */
  private async save(isRepeated = false): Promise<void> {
    const change = this.copy.changes();
    this.change({ status: 'saving', error: this.state.snapshot().error });
    try {
      this.copy.onSaved(await this.ports.save(change, this.copy.base.etag), change);
      this.settle();
    } catch (error) {
      if (isApiError(error, PRECONDITION_FAILED)) await this.reconcile(isRepeated);
      else {
        this.copy.onResponseLost(change);
        this.fail(error);
      }
    }
  }

  private async compare(): Promise<void> {
    this.change({ status: 'saving', error: this.state.snapshot().error });
    await this.reconcile();
  }

  /** Reads the version of the service after it rejected the one of the editor, or may have stored another one. */
  private async reconcile(isRepeated = false): Promise<void> {
    try {
      const server = await this.ports.load();
      if (this.copy.onLoaded(server) === 'merge') return this.startMerge(this.copy.content, server);
      if (!this.copy.isChanged) this.settle();
      else if (!isRepeated) await this.save(true);
      // After a crash, the service rejects changes until it has repaired the document.
      else this.retryLater();
    } catch (error) {
      this.fail(error);
    }
  }

  private startMerge(own: string, server: Version): void {
    clearTimeout(this.timer);
    this.copy.edit(own);
    this.storeDraft();
    this.change({ status: 'conflict', server });
  }

  private settle(): void {
    if (!this.copy.isChanged) {
      this.ports.storeDraft(undefined);
      this.change({ status: 'saved' });
    } else {
      this.storeDraft();
      this.change({ status: 'unsaved' });
      this.schedule(AUTOSAVE_MS);
    }
  }

  private fail(error: unknown): void {
    if (isApiError(error, UNAUTHORIZED)) return this.change({ status: 'waiting' });
    if (isRejection(error)) return this.change({ status: 'rejected', error });
    this.retryLater();
  }

  private retryLater(): void {
    this.change({ status: 'unreachable' });
    this.schedule(RETRY_MS);
  }

  private storeDraft(): void {
    this.ports.storeDraft(this.copy.toDraft());
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.saveNow(), delayMs);
  }

  private decideOn({ baseContent, content }: Draft): Decision {
    return decide({ base: baseContent, own: content, server: this.copy.base.content });
  }

  private change(state: SaveState): void {
    const { status, server, error } = this.state.snapshot();
    if (state.status === status && state.server === server && state.error === error) return;
    this.state.set(state);
  }
}
