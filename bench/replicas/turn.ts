import { MIXES } from './mixes.js';
import type { Mix } from './mixes.js';
import type { Lab } from './lab.js';
import type { Options } from './options.js';
import { ReplicaGroup } from './replica-group.js';
import { measureRevocations } from './revocations.js';
import type { Revocations } from './revocations.js';
import { measureIdle, measureTraffic, warmUp } from './traffic.js';
import type { IdleFigures, TrafficFigures } from './traffic.js';

/** Figures of one number of replicas. */
export interface TurnFigures {
  readonly idle: IdleFigures;
  readonly traffic: Readonly<Record<Mix, TrafficFigures>>;
  readonly revocations: Revocations;
  /** Mean memory of a replica after the load. */
  readonly rss: number;
}

/** Starts replicas, measures them and stops them. */
export async function takeTurn(lab: Lab, count: number, options: Options): Promise<TurnFigures> {
  const group = await ReplicaGroup.start(lab.workspace, count);
  try {
    await lab.database.checkpoint();
    await warmUp(lab, group, options.warmUpRequests);
    const idle = await measureIdle(lab, group, options.idleSeconds);
    const [without, limited] = MIXES;
    const traffic = {
      [without]: await measureTraffic(lab, group, without, options),
      [limited]: await measureTraffic(lab, group, limited, options),
    };
    const revocations = await measureRevocations(lab, group.ports, options);
    return { idle, traffic, revocations, rss: await group.meanRss() };
  } finally {
    await group.stop();
  }
}
