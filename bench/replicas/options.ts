import { parseArgs } from 'node:util';
import { parseCount, parsePositive } from '../support/options.js';

export interface Options {
  readonly rounds: number;
  /** Duration of each load of a turn. */
  readonly seconds: number;
  /** Duration of the measurement without load. */
  readonly idleSeconds: number;
  /** Requests per second to all replicas together. */
  readonly perSecond: number;
  /** Requests to each replica with each mix of keys, after which the code is compiled. */
  readonly warmUpRequests: number;
  readonly isComplete: boolean;
  readonly output?: string;
}

const FULL = { rounds: '3', seconds: '20', perSecond: '1000', idleSeconds: 30, warmUpRequests: 10_000 };
const QUICK = { ...FULL, rounds: '1', seconds: '5', idleSeconds: 5, warmUpRequests: 2_000 };

/** @throws Error if an option is unknown or its value is invalid */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      rate: { type: 'string' },
      output: { type: 'string' },
    },
  });
  const { idleSeconds, warmUpRequests, ...defaults } = values.quick ? QUICK : FULL;
  const rounds = parseCount('rounds', values.rounds ?? defaults.rounds);
  const seconds = parsePositive('seconds', values.seconds ?? defaults.seconds);
  const perSecond = parseCount('rate', values.rate ?? defaults.perSecond);
  const isFull = rounds >= Number(FULL.rounds) && seconds >= Number(FULL.seconds);
  const isUsualRate = perSecond === Number(FULL.perSecond);
  return {
    rounds,
    seconds,
    idleSeconds,
    perSecond,
    warmUpRequests,
    isComplete: !values.quick && isFull && isUsualRate,
    output: values.output,
  };
}
