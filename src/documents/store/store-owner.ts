import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SettingsError } from '../../config/environment.js';
import { Settings } from '../../config/settings.js';
import { ObjectStore } from '../../storage/object-store.js';
import { retryUntilAvailable } from '../../storage/retry-until-available.js';
import { BODY_PREFIX, parseBodyKey } from './document-body.js';

/** Prefix of claims. The rest of the key is the id of the system. */
const CLAIM_PREFIX = 'systems/';
const CLAIM = /^systems\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** Explanation for operators; only the key of a claim is evaluated. */
const CLAIM_BODY = Buffer.from(
  'The bodies in this store belong to the database that has this id in system_identity.\n',
);

const WRITE_CHECK_BODY = Buffer.from('Written and deleted by a start. It can be deleted.\n');

/** Store and database do not belong together. */
class WrongStore extends SettingsError {}

/** A database together with its copies. */
interface System {
  readonly claim: string;
  /** Whether the creation of a document was ever begun. */
  readonly hasBegun: boolean;
}

/**
 * Claims the object store for one system. Every system numbers its documents from 1, so two systems in one store
 * would overwrite each other's bodies.
 *
 * A start writes its claim first and lists all claims second. If two systems start on an empty store at once, at
 * least one of them finds the other claim and stops; both may. This requires a store with consistent lists. Two
 * mistakes stay unnoticed. A copy of the database has the same id. A system with documents may be started on a wrong
 * store that has no claim.
 */
@Injectable()
export class StoreOwner {
  private readonly logger = new Logger(StoreOwner.name);

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly store: ObjectStore,
    private readonly settings: Settings,
  ) {}

  /**
   * Claims the store at a start; several replicas may do so at once. Outside production, where databases come and
   * go, a foreign claim only causes a warning.
   * @throws SettingsError when another system has claimed the store, in production
   * @throws Error that names the setting when the store is away
   */
  async claim(): Promise<void> {
    try {
      await this.take();
    } catch (error) {
      if (this.settings.production || !(error instanceof WrongStore)) throw error;
      this.logger.warn({ reason: error.message }, 'documents may overwrite those of another system');
    }
  }

  private async take(): Promise<void> {
    const { claim, hasBegun } = await this.findSystem();
    await retryUntilAvailable(this.settings, () => this.assertWritable());
    await retryUntilAvailable(this.settings, async () => {
      if (await this.hasClaim(claim)) return;
      if (!hasBegun) await this.assertNoBodies();
      await this.store.put(claim, CLAIM_BODY);
      await this.hasClaim(claim); // throws if another system has claimed the store meanwhile
    });
  }

  /** Writes and deletes an object, so that a missing right is found before the first document. */
  private async assertWritable(): Promise<void> {
    const key = `${CLAIM_PREFIX}write-check-${randomUUID()}`;
    await this.store.put(key, WRITE_CHECK_BODY);
    await this.store.delete(key);
  }

  /** Checks the claims without leaving one. @throws SettingsError when there is a foreign claim @throws StorageUnavailable */
  async assertNoForeignClaim(): Promise<void> {
    await this.hasClaim((await this.findSystem()).claim);
  }

  private async findSystem(): Promise<System> {
    const [system] = await this.dataSource.query<System[]>(
      `SELECT $1 || id AS claim, (SELECT is_called FROM documents_id_seq) AS "hasBegun" FROM system_identity`,
      [CLAIM_PREFIX],
    );
    return system!;
  }

  /** Whether the store has this claim. @throws SettingsError when it has a foreign one */
  private async hasClaim(claim: string): Promise<boolean> {
    let found = false;
    for await (const key of this.store.list(CLAIM_PREFIX)) {
      if (key === claim) found = true;
      else if (CLAIM.test(key)) throw this.foreignClaim(key);
    }
    return found;
  }

  /** Rejects a store with bodies for a database without documents, such as one created by a mistyped setting. */
  private async assertNoBodies(): Promise<void> {
    for await (const key of this.store.list(BODY_PREFIX)) {
      if (parseBodyKey(key) === undefined) continue;
      throw new WrongStore(
        `${this.place} has documents, and the database (DATABASE_URL) never had any: they do not belong together`,
      );
    }
  }

  private foreignClaim(claim: string): SettingsError {
    const object = this.settings.minio ? claim : `objects/${claim}`;
    return new WrongStore(
      `${this.place} belongs to another system than the database (DATABASE_URL); if the two do belong together, delete ${object} there`,
    );
  }

  private get place(): string {
    const { minio, dataDir } = this.settings;
    return minio ? `MINIO_BUCKET ${minio.bucket}` : `DATA_DIR ${dataDir}`;
  }
}
