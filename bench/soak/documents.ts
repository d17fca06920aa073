import type { Answer } from './client.js';
import type { Ledger } from './ledger.js';

const LONGEST_LINES = 400;

/** The whole text of a version: it says whose it is, and a part of it is not the whole. */
function contentOf(name: string, version: number): string {
  const lines = (version * 7_919) % LONGEST_LINES;
  const text = Array.from({ length: lines }, (_, i) => `${name} v${version} line ${i}`);
  return [`${name} v${version} has ${lines} lines`, ...text].join('\n');
}

/** What was known when a read began. */
export interface Known {
  readonly acknowledged: number;
  readonly isDeleted: boolean;
}

/** A document and what may be there of it. One writes it, one version after the other; everybody reads it. */
export class TrackedDocument {
  id?: number;
  /** The newest version that is there for certain; the last one of which it is not known. */
  acknowledged = 0;
  attempted = 0;
  deletion: 'none' | 'attempted' | 'done' = 'none';

  constructor(
    /** The address of the documents of its project. */
    readonly parent: string,
    readonly session: string,
    /** Unlike any other: its slug. */
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
    return { title: `${name} v${version}`, slug: name, content: contentOf(name, version) };
  }

  /** Holds what was read against what may be. */
  check(ledger: Ledger, known: Known, { status, body, text }: Answer): void {
    const what = 'a document is whole, its own, and never older than what was acknowledged';
    if (status === 404) return ledger.check(what, this.deletion !== 'none', `${this.name} is gone`);
    const version = Number(/ v(\d+)$/.exec(body.title as string)?.[1]);
    const expected = { id: this.id ?? body.id, ...this.version(version) };
    const isWhole = Object.entries(expected).every(([member, value]) => body[member] === value);
    const isNew = version >= known.acknowledged && version <= this.attempted && !known.isDeleted;
    ledger.check(
      what,
      isWhole && isNew,
      `${this.name}: ${JSON.stringify(known)} attempted ${this.attempted}: ${text.slice(0, 200)}`,
    );
  }
}
