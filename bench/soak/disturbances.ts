import { setTimeout as pause } from 'node:timers/promises';
import type { Lab } from './lab.js';
import type { Ledger } from './ledger.js';
import type { Replica } from './replica.js';
import type { Timeline } from './timeline.js';

const DATABASE_DOWN_MS = 20_000;
const STORE_STALLED_MS = 15_000;
const REPLICA_DOWN_MS = 3_000;
const QUIET_MS = 20_000;
/** Share of the stalled writes that the store still executes after their clients have given up. */
const LATE_SHARE = 0.3;

/**
 * Runs the disturbances in turns, with quiet times between. The first half stops only one replica, and the second half
 * only the other one. Both replicas then live long enough for a statement about their memory.
 */
export class Disturbances {
  constructor(
    private readonly lab: Lab,
    private readonly timeline: Timeline,
    private readonly ledger: Ledger,
  ) {}

  async run(minutes: number): Promise<void> {
    const startedAt = performance.now();
    const minutesSince = () => (performance.now() - startedAt) / 60_000;
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
      this.ledger.check('a replica exits with 0 after SIGTERM', code === 0, `${replica.name}: ${code}`);
      await replica.begin();
    };
    return this.timeline.disturb('terminate', run, replica);
  }

  private async allReady(): Promise<void> {
    await Promise.all(this.lab.replicas.map((replica) => replica.ready()));
  }
}
