import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from './client.js';
import { DocumentWriter, pick, readDocument } from './document-actors.js';
import { joinAndLeave, logIn, revokeInUse } from './key-actors.js';
import type { KeyUser } from './keys.js';
import type { Owner } from './owners.js';

const READERS = 6;
const REVOKERS = 4;
const DEVICES = 4;
/** Mean time between two steps of an actor. */
const PAUSE_MS = 600;

/** All actors. Each acts at its own pace until the end. */
export class Traffic {
  private readonly ending = new AbortController();

  private constructor(
    private readonly client: Client,
    readonly writers: readonly DocumentWriter[],
    private readonly actors: readonly (readonly [string, () => Promise<void>])[],
  ) {
    setMaxListeners(0, this.ending.signal); // every actor adds a listener
  }

  static async prepare(keys: KeyUser, owners: readonly Owner[]): Promise<Traffic> {
    const { client } = keys;
    const writers: DocumentWriter[] = [];
    const actors: [string, () => Promise<void>][] = [];
    for (const owner of owners) {
      const writer = await DocumentWriter.create(client, owner);
      writers.push(writer);
      actors.push(['writer', () => writer.step()]);
      const key = await keys.createKey(owner);
      actors.push(['proxy user', () => keys.use(key)], ['stream reader', () => keys.use(key, true)]);
      if (owner.isTeam) actors.push(['member', () => joinAndLeave(keys, owner, `joins-${owner.label}`)]);
    }
    for (let i = 0; i < READERS; i++) actors.push(['reader', () => readDocument(client, writers, owners)]);
    for (let i = 0; i < REVOKERS; i++) actors.push(['revoker', () => revokeInUse(keys, owners)]);
    for (let i = 0; i < DEVICES; i++) actors.push(['device', () => logIn(keys, owners)]);
    return new Traffic(client, writers, actors);
  }

  get size(): number {
    return this.actors.length;
  }

  /** Resolves when every actor has finished its last step. */
  async run(): Promise<void> {
    await Promise.all(this.actors.map(([name, step]) => this.act(name, step)));
  }

  end(): void {
    this.ending.abort();
  }

  private async act(name: string, step: () => Promise<void>): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      await step().catch((error: Error) => this.client.ledger.addFinding(`${name}: ${error.message}`));
      await pause(pick([0.25, 0.5, 1, 1.5, 1.75])! * PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
