import { Buffer } from 'node:buffer';
import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SettingsError } from '../config/environment.js';
import { Settings } from '../config/settings.js';
import { ObjectStore } from '../storage/object-store.js';
import { patiently } from '../storage/patiently.js';
import { BODY_PREFIX, documentIdOf } from './document-body.js';

/** A claim is the object of this prefix and the system's id; not below {@link BODY_PREFIX}. */
const CLAIM_PREFIX = 'systems/';
const CLAIM = /^systems\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** For whoever comes upon it; only the key counts. */
const CLAIM_BODY = Buffer.from(
  'The bodies here belong to the database that has this id in system_identity.\n',
);

/** A system is a database and its copies. */
interface System {
  readonly claim: string;
  /** Whether a document was ever created, or at least begun. */
  readonly hasBegun: boolean;
}

/**
 * To which system the object store belongs: to one. Each numbers its documents from 1, and would put its bodies in the
 * place of another's.
 *
 * A claim is put first and looked at second, so that of two systems that come to an empty store at once, at least one
 * finds the other's, and refuses; both may. That needs a store whose lists are up to date. Not noticed are a copy of
 * the database, which has the same id, and, by a system that has had documents, a wrong store that has no claim yet.
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
   * Takes the store for this system, unless it is another's: for every start, of several replicas at once too. On a
   * developer's machine, where databases come and go, that is no reason not to start.
   * @throws SettingsError where it is another's in production
   * @throws Error that names the setting when the store is away
   */
  async claim(): Promise<void> {
    try {
      await this.take();
    } catch (error) {
      if (this.settings.production || !(error instanceof SettingsError)) throw error;
      this.logger.warn({ reason: error.message }, 'documents may take the place of others');
    }
  }

  private async take(): Promise<void> {
    const { claim, hasBegun } = await this.findSystem();
    await patiently(this.settings, async () => {
      if (await this.bears(claim)) return;
      if (!hasBegun) await this.assertNoBodies();
      await this.store.put(claim, CLAIM_BODY);
      await this.bears(claim); // and nobody else's, who came meanwhile
    });
  }

  /** For whoever only looks, and leaves no claim. @throws SettingsError @throws StorageUnavailable */
  async assertNotAnothers(): Promise<void> {
    await this.bears((await this.findSystem()).claim);
  }

  private async findSystem(): Promise<System> {
    const [system] = await this.dataSource.query<System[]>(
      `SELECT $1 || id AS claim, (SELECT is_called FROM documents_id_seq) AS "hasBegun" FROM system_identity`,
      [CLAIM_PREFIX],
    );
    return system!;
  }

  /** Whether the store has this claim. @throws SettingsError when it has another one */
  private async bears(claim: string): Promise<boolean> {
    let found = false;
    for await (const key of this.store.list(CLAIM_PREFIX)) {
      if (key === claim) found = true;
      else if (CLAIM.test(key)) throw this.anothers(key);
    }
    return found;
  }

  /** A database that has just been made, by a setting that is mistyped or not set, has nothing to do with them. */
  private async assertNoBodies(): Promise<void> {
    for await (const key of this.store.list(BODY_PREFIX)) {
      if (documentIdOf(key) === undefined) continue;
      throw new SettingsError(
        `${this.place} has documents, and the database (DATABASE_URL) never had any: they do not belong together`,
      );
    }
  }

  private anothers(claim: string): SettingsError {
    const object = this.settings.minio ? claim : `objects/${claim}`;
    return new SettingsError(
      `${this.place} belongs to another system than the database (DATABASE_URL); if the two do belong together, delete ${object} there`,
    );
  }

  private get place(): string {
    const { minio, dataDir } = this.settings;
    return minio ? `MINIO_BUCKET ${minio.bucket}` : `DATA_DIR ${dataDir}`;
  }
}
