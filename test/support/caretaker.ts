import type { AddressInfo } from 'node:net';
import supertest from 'supertest';
import { parseSettings } from '../../src/config/parse-settings.js';
import { AbandonedUpdates } from '../../src/documents/update/abandoned-updates.js';
import { setupApp } from '../../src/setup-app.js';
import { DeletionQueue } from '../../src/storage/deletion-queue.js';
import { ObjectStore } from '../../src/storage/object-store.js';
import { testVariables } from './app.js';
import type { TestDatabase } from './database.js';
import { sessionFor } from './sessions.js';

type Application = Awaited<ReturnType<typeof setupApp>>;

const running = new Set<Caretaker>();

afterAll(() => Promise.all([...running].map((caretaker) => caretaker.close())));

/**
 * Another replica on a database and its object storage, in this process. It does the scheduled work when it is
 * told to, as if hours had passed since the last request.
 */
export class Caretaker {
  constructor(
    private readonly app: Application,
    private readonly database: TestDatabase,
  ) {}

  static async start(
    database: TestDatabase,
    dataDir: string,
    variables: NodeJS.ProcessEnv = {},
  ): Promise<Caretaker> {
    const settings = parseSettings({ ...testVariables(database.url, dataDir), ...variables });
    const app = await setupApp(settings, database.url);
    await app.listen(0, '127.0.0.1');
    const caretaker = new Caretaker(app, database);
    running.add(caretaker);
    return caretaker;
  }

  /** Requests of a user. */
  async as(user: string): Promise<ReturnType<typeof supertest.agent>> {
    const { port } = this.app.getHttpServer().address() as AddressInfo;
    const agent = supertest.agent(`http://127.0.0.1:${port}`);
    return agent.set('Authorization', `Bearer ${await sessionFor(user)}`);
  }

  /** Done when the tests of the file are over, at the latest. */
  close(): Promise<void> {
    running.delete(this);
    this.app.getHttpServer().closeAllConnections();
    return this.app.close();
  }

  /** The ids of the documents whose bodies are stored. */
  async storedBodies(): Promise<number[]> {
    const ids: number[] = [];
    for await (const key of this.app.get(ObjectStore).list('documents/')) ids.push(Number(key.split('/')[1]));
    return ids.sort((a, b) => a - b);
  }

  /** Lets everything that waits for its time have waited long enough, and sweeps. */
  async sweepAll(): Promise<void> {
    await this.database.query(
      `UPDATE object_deletions SET due_at = now() - interval '1 hour', again_at = again_at - interval '1 day'`,
    );
    await this.app.get(DeletionQueue).sweep();
  }

  /** Like {@link sweepAll}, for the remains of failed updates. */
  async settleAll(): Promise<void> {
    await this.database.query(`UPDATE document_updates SET created_at = created_at - interval '1 day'`);
    await this.app.get(AbandonedUpdates).run();
  }

  /** Afterwards there is a body for every document and nothing else, and no work is left. */
  async expectNothingLeftBehind(): Promise<void> {
    await this.settleAll();
    await this.sweepAll();
    const documents = await this.database.query<{ id: number }>('SELECT id::int FROM documents ORDER BY id');
    expect(await this.storedBodies()).toEqual(documents.map(({ id }) => id));
    expect(await this.database.query('SELECT * FROM object_deletions')).toEqual([]);
    expect(await this.database.query('SELECT * FROM document_updates')).toEqual([]);
  }
}
