import type { INestApplicationContext } from '@nestjs/common';
import { DocumentCheck } from '../documents/check/document-check.js';
import { DocumentsModule } from '../documents/documents.module.js';
import { ObjectCheck } from '../documents/check/object-check.js';
import type { Finding, Problem } from '../documents/check/storage-finding.js';
import { StoreOwner } from '../documents/store/store-owner.js';
import { assertStoreExists, StorageModule } from '../storage/storage.module.js';
import { withModules } from './application.js';
import { FAILED, DONE, FOUND_PROBLEMS } from './command.js';
import type { Command } from './command.js';
import { Progress } from './progress.js';

type Check = Pick<ObjectCheck, 'run'>;

const MEANING: Record<Problem, string> = {
  missing: 'its body is missing; restore it from a backup, or delete the document',
  altered: 'its body has changed (SHA-256); restore it from a backup, or write the document again',
  unreadable: 'cannot be read',
  unfinished: 'an update stored its body and was interrupted; the next read or write completes it',
  orphan: 'a body without a document',
  undeleted: 'a body without a document; it could not be deleted, and the service will retry',
  foreign: 'not the body of a document; it is ignored',
};
const REPAIRED: Partial<Record<Problem, string>> = {
  unfinished: 'an interrupted update was completed',
  orphan: 'a body without a document was deleted',
};

export const verifyStorageCommand: Command = {
  name: 'verify-storage',
  summary:
    'compares documents with the object storage, also while the service runs; exits with 1 after findings',
  flags: {
    repair:
      'deletes bodies without documents, and completes interrupted updates; other findings cannot be repaired',
  },
  async run(context) {
    const repair = context.flags.has('repair');
    await assertStoreExists(context.settings);
    return withModules(context, [StorageModule.with(), DocumentsModule], async (app) => {
      await app.get(StoreOwner).assertNoForeignClaim();
      const verification = new Verification(context.print, repair);
      await verification.run(app);
      verification.summarize();
      return verification.code;
    });
  },
};

/** Prints each finding at once and counts it, so that memory does not grow with the number of findings. */
class Verification {
  private documents = 0;
  private objects = 0;
  private wrong = 0;
  private repaired = 0;
  private unreadable = 0;

  constructor(
    private readonly print: (line: string) => void,
    private readonly repair: boolean,
  ) {}

  /** Exit code; like in grep, errors take precedence over findings. */
  get code(): number {
    if (this.unreadable > 0) return FAILED;
    return this.wrong > 0 ? FOUND_PROBLEMS : DONE;
  }

  async run(app: INestApplicationContext): Promise<void> {
    const [documents, objects] = [app.get(DocumentCheck), app.get(ObjectCheck)];
    const count = await documents.count();
    this.documents = await this.runCheck('documents', count, documents);
    if (this.repair) await assertOneSystem(this.documents - this.wrong - this.unreadable, objects);
    this.objects = await this.runCheck('objects', count, objects);
  }

  summarize(): void {
    this.print(`${this.documents} documents and ${this.objects} objects checked`);
    this.print(`${this.wrong} wrong, ${this.repaired} repaired`);
    if (this.unreadable > 0) this.print(`${this.unreadable} could not be read`);
  }

  /** @returns number of checked items */
  private async runCheck(label: string, total: number, check: Check): Promise<number> {
    const progress = new Progress(label, total);
    let checked = 0;
    const observer = {
      onChecked: () => {
        checked++;
        progress.advance();
      },
      onFinding: (finding: Finding) => {
        progress.clear();
        this.report(finding);
      },
    };
    try {
      await check.run(observer, this.repair);
    } finally {
      progress.end();
    }
    return checked;
  }

  private report({ subject, problem, repaired, reason }: Finding): void {
    if (repaired) this.repaired++;
    else if (problem === 'unreadable') this.unreadable++;
    else if (problem !== 'unfinished') this.wrong++; // nothing is lost, and no action is needed
    const meaning = (repaired ? REPAIRED[problem] : undefined) ?? MEANING[problem];
    this.print(`${subject}: ${meaning}${reason === undefined ? '' : ` (${reason})`}`);
  }
}

/**
 * Rejects a repair that would delete most bodies. A restored backup has few orphans. If most bodies are orphans, a
 * mistyped setting may name the database of another system, or an empty one.
 * @param intact number of documents with intact bodies
 */
async function assertOneSystem(intact: number, objects: ObjectCheck): Promise<void> {
  if (!(await objects.hasMoreOrphansThan(intact))) return;
  throw new Error(
    `nothing was deleted: ${intact} documents have their bodies, and more bodies than that have no document. ` +
      'Do DATABASE_URL and MINIO_BUCKET or DATA_DIR belong together? ' +
      'If they do, delete the bodies by hand that verify-storage lists without --repair',
  );
}
