import type { INestApplicationContext } from '@nestjs/common';
import { DocumentCheck } from '../documents/document-check.js';
import { DocumentsModule } from '../documents/documents.module.js';
import { ObjectCheck } from '../documents/object-check.js';
import type { Finding } from '../documents/storage-finding.js';
import { StoreOwner } from '../documents/store-owner.js';
import { assertStoreExists } from '../storage/storage.module.js';
import { withModules } from './application.js';
import { COULD_NOT, DONE, FOUND_SOMETHING } from './command.js';
import type { Command } from './command.js';
import { Progress } from './progress.js';

type Check = Pick<ObjectCheck, 'run'>;
type Problem = Finding['problem'];

const MEANING: Record<Problem, string> = {
  missing: 'its body is missing; restore it from a backup, or delete the document',
  altered: 'its body is not what was stored (SHA-256); restore it from a backup, or write it anew',
  unreadable: 'cannot be read',
  unfinished: 'an update stored its body and was cut off; the next read or write finishes it',
  stray: 'a body that no document points to',
  undeleted: 'a body that no document points to; it could not be deleted, and the service will try again',
  foreign: 'not the body of a document; left alone',
};
const REPAIRED: Partial<Record<Problem, string>> = {
  unfinished: 'an update that was cut off is finished',
  stray: 'a body that no document pointed to is deleted',
};

export const verifyStorageCommand: Command = {
  name: 'verify-storage',
  summary: 'compares documents and object storage, also while the service runs; 1 when something is wrong',
  flags: {
    repair: 'deletes bodies without documents, finishes updates that were cut off; no more can be repaired',
  },
  async run(context) {
    const repair = context.flags.has('repair');
    await assertStoreExists(context.settings);
    return withModules(context, [DocumentsModule], async (app) => {
      await app.get(StoreOwner).assertNotAnothers();
      const verification = new Verification(context.print, repair);
      await verification.run(app);
      verification.summarize();
      return verification.code;
    });
  },
};

/** Prints what is found as it is found, and counts: memory does not grow with it. */
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

  /** As grep does: what could not be read comes before what was found. */
  get code(): number {
    if (this.unreadable > 0) return COULD_NOT;
    return this.wrong > 0 ? FOUND_SOMETHING : DONE;
  }

  async run(app: INestApplicationContext): Promise<void> {
    const [documents, objects] = [app.get(DocumentCheck), app.get(ObjectCheck)];
    const count = await documents.count();
    this.documents = await this.go('documents', count, documents);
    if (this.repair) await assertOneSystem(this.documents - this.wrong - this.unreadable, objects);
    this.objects = await this.go('objects', count, objects);
  }

  summarize(): void {
    this.print(`${this.documents} documents and ${this.objects} objects checked`);
    this.print(`${this.wrong} wrong, ${this.repaired} repaired`);
    if (this.unreadable > 0) this.print(`${this.unreadable} could not be read`);
  }

  /** @returns how many were looked at */
  private async go(label: string, total: number, check: Check): Promise<number> {
    const progress = new Progress(label, total);
    let checked = 0;
    const observer = {
      checked: () => {
        checked++;
        progress.advance();
      },
      found: (finding: Finding) => {
        progress.clear();
        this.tell(finding);
      },
    };
    try {
      await check.run(observer, this.repair);
    } finally {
      progress.end();
    }
    return checked;
  }

  private tell({ subject, problem, repaired, reason }: Finding): void {
    if (repaired) this.repaired++;
    else if (problem === 'unreadable') this.unreadable++;
    else if (problem !== 'unfinished') this.wrong++; // nothing is lost, and nobody needs to do anything
    const meaning = (repaired ? REPAIRED[problem] : undefined) ?? MEANING[problem];
    this.print(`${subject}: ${meaning}${reason === undefined ? '' : ` (${reason})`}`);
  }
}

/**
 * What a restored backup has too much of is little. Where it is most, the database may be that of another system,
 * even an empty one: then it is not for a mistyped setting to decide that it is deleted.
 * @param whole how many documents have their bodies
 */
async function assertOneSystem(whole: number, objects: ObjectCheck): Promise<void> {
  if (!(await objects.hasMoreStraysThan(whole))) return;
  throw new Error(
    `nothing is deleted: ${whole} documents have their bodies, and more bodies than that have no document. ` +
      'Do DATABASE_URL and MINIO_BUCKET or DATA_DIR belong together? ' +
      'If they do, delete yourself what verify-storage names without --repair',
  );
}
