import { decide } from './decide';
import type { Decision } from './decide';
import type { Draft } from './draft-store';
import type { Change, Version } from './save-state';

/** Texts whose save got no response, and that are compared with the service's text. */
const REMEMBERED_ATTEMPTS = 10;

/** Text and title of the editor, and the version of the service that they are based on. */
export class WorkingCopy {
  private own: string;
  /** Title that the person typed, and that the service does not have yet. */
  private newTitle: string | undefined;
  private replacementCount = 0;
  /** Texts that the service may have, because the response to their save was lost. */
  private readonly attempts = new Set<string>();

  constructor(private baseVersion: Version) {
    this.own = baseVersion.content;
  }

  get base(): Version {
    return this.baseVersion;
  }

  get content(): string {
    return this.own;
  }

  get title(): string {
    return this.newTitle ?? this.baseVersion.title;
  }

  /** Number of times that the text was replaced by another one than the editor's. */
  get replacements(): number {
    return this.replacementCount;
  }

  get isChanged(): boolean {
    return this.own !== this.baseVersion.content || this.newTitle !== undefined;
  }

  /** Whether the service can have another text than the base, because the response to a save was lost. */
  get isUncertain(): boolean {
    return this.attempts.size > 0;
  }

  edit(content: string): void {
    this.own = content;
  }

  /** @param title an empty one is not saved */
  editTitle(title: string): void {
    this.newTitle = title.trim() || undefined;
  }

  /** Takes another text than that of the editor. */
  replace(content: string): void {
    this.own = content;
    this.replacementCount++;
  }

  /** Continues with another version, and leaves the text of the editor as it is. */
  rebase(version: Version): void {
    this.baseVersion = version;
  }

  /** Takes text and title as they are on the service. */
  reset(version: Version): void {
    this.baseVersion = version;
    this.own = version.content;
    this.newTitle = undefined;
  }

  /** Changes that the service does not have. */
  changes(): Change {
    return { content: this.own === this.baseVersion.content ? undefined : this.own, title: this.newTitle };
  }

  toDraft(): Draft {
    const { content: baseContent, etag: baseEtag } = this.baseVersion;
    return { content: this.own, baseContent, baseEtag, newTitle: this.newTitle };
  }

  /** @param saved the changes that the service has stored */
  onSaved(version: Version, saved: Change): void {
    this.baseVersion = version;
    this.attempts.clear();
    if (this.newTitle === saved.title) this.newTitle = undefined;
  }

  /** Remembers changes that the service may have stored. */
  onResponseLost({ content }: Change): void {
    if (content !== undefined && this.attempts.size < REMEMBERED_ATTEMPTS) this.attempts.add(content);
  }

  /** Decides how to continue with a version that was read from the service, and takes it unless people have to merge. */
  onLoaded(server: Version): Decision {
    const base = this.attempts.has(server.content) ? server.content : this.baseVersion.content;
    // The service rejects what is still on its way with an older version.
    if (server.etag !== this.baseVersion.etag) this.attempts.clear();
    const decision = decide({ base, own: this.own, server: server.content });
    if (decision === 'merge') return decision;
    this.baseVersion = server;
    if (this.newTitle === server.title) this.newTitle = undefined;
    if (decision === 'take-server') this.replace(server.content);
    return decision;
  }
}
