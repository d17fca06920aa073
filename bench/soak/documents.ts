import type { ApiResponse } from './client.js';
import type { Ledger } from './ledger.js';

const MAX_LINES = 400;

/** The text of a version. It names its document, and a truncated text does not match it. */
function createContent(name: string, version: number): string {
  const lines = (version * 7_919) % MAX_LINES;
  const text = Array.from({ length: lines }, (_, i) => `${name} v${version} line ${i}`);
  return [`${name} v${version} has ${lines} lines`, ...text].join('\n');
}

/** State of a document when a read began. */
export interface Known {
  readonly acknowledged: number;
  readonly isDeleted: boolean;
}

/** A document and its possible states. One actor writes its versions in order, and all actors read it. */
export class TrackedDocument {
  id?: number;
  /** Newest version that a response confirmed; `attempted` is the newest version that was sent. */
  acknowledged = 0;
  attempted = 0;
  deletion: 'none' | 'attempted' | 'done' = 'none';

  constructor(
    /** Path of the documents of its project. */
    readonly parent: string,
    readonly session: string,
    /** Slug; unique over all documents. */
    readonly name: string,
  ) {}

  get path(): string {
    return `${this.parent}/${this.id}`;
  }

  get known(): Known {
    return { acknowledged: this.acknowledged, isDeleted: this.deletion === 'done' };
  }

  version(version: number): object {
    const { name } = this;
    return { title: `${name} v${version}`, slug: name, content: createContent(name, version) };
  }

  /** Compares a response with the possible states. */
  check(ledger: Ledger, known: Known, { status, body, text }: ApiResponse): void {
    const rule = 'a document is complete and not older than its last acknowledged version';
    if (status === 404) return ledger.check(rule, this.deletion !== 'none', `${this.name} is gone`);
    const version = Number(/ v(\d+)$/.exec(body.title as string)?.[1]);
    const expected = { id: this.id ?? body.id, ...this.version(version) };
    const isComplete = Object.entries(expected).every(([member, value]) => body[member] === value);
    const isNew = version >= known.acknowledged && version <= this.attempted && !known.isDeleted;
    ledger.check(
      rule,
      isComplete && isNew,
      `${this.name}: ${JSON.stringify(known)} attempted ${this.attempted}: ${text.slice(0, 200)}`,
    );
  }
}
