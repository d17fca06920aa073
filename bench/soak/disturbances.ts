import { setTimeout as pause } from 'node:timers/promises';
import type { Lab } from './lab.js';
import type { Ledger } from './ledger.js';
import type { Replica } from './replica.js';
import type { Timeline } from './timeline.js';

const DATABASE_DOWN_MS = 20_000;
const STORE_STALLED_MS = 15_000;
const REPLICA_DOWN_MS = 3_000;
const QUIET_MS = 20_000;
/** Of the stalled writes, those that the store does in the end although nobody waits any more. */
const LATE_SHARE = 0.3;

/**
 * One after the other, with quiet times between. In the first half it is one replica that is killed and told to
 * stop, in the second half the other: both live long enough to see what becomes of their memory.
 */
export class Disturbances {
  constructor(
    private readonly lab: Lab,
    private readonly timeline: Timeline,
    private readonly ledger: Ledger,
  ) {}

  async run(minutes: number): Promise<void> {
    const beganAt = performance.now();
    const minutesSince = () => (performance.now() - beganAt) / 60_000;
    const victim = () => this.lab.replicas[minutesSince() < minutes / 2 ? 0 : 1];
    const turns = [
      () => this.stopDatabase(),
      () => this.kill(victim()),
      () => this.stallStore(),
      () => this.terminate(victim()),
    ];
    for (let turn = 0; ; turn++) {
      await pause(QUIET_MS);
      if (minutesSince() > minutes) return;
      await turns[turn % turns.length]!();
    }
  }

  private stopDatabase(): Promise<void> {
    const { workspace, databaseProxy } = this.lab;
    return this.timeline.disturb('postgres', async () => {
      await workspace.stopDatabase();
      await pause(DATABASE_DOWN_MS);
      databaseProxy.comeBack(await workspace.startDatabase());
      await this.allReady();
    });
  }

  private stallStore(): Promise<void> {
    const { storeProxy } = this.lab;
    return this.timeline.disturb('store', async () => {
      storeProxy.onRequest = (method) =>
        method === 'PUT' && Math.random() < LATE_SHARE ? 'arrive late' : 'hang';
      await pause(STORE_STALLED_MS);
      await storeProxy.recover();
      await this.allReady();
    });
  }

  private kill(replica: Replica): Promise<void> {
    const run = async () => {
      await replica.kill();
      await pause(REPLICA_DOWN_MS);
      await replica.begin();
    };
    return this.timeline.disturb('kill', run, replica);
  }

  private terminate(replica: Replica): Promise<void> {
    const run = async () => {
      const code = await replica.terminate();
      this.ledger.check('a replica that is told to stop ends with 0', code === 0, `${replica.name}: ${code}`);
      await replica.begin();
    };
    return this.timeline.disturb('terminate', run, replica);
  }

  private async allReady(): Promise<void> {
    await Promise.all(this.lab.replicas.map((replica) => replica.ready()));
  }
}
