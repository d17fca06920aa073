import { parseArgs } from 'node:util';

/** In the order in which they are measured. */
export const FIGURES = [
  'throughput',
  'latency',
  'streams',
  'first-byte',
  'large',
  'records',
  'memory',
] as const;
export type FigureName = (typeof FIGURES)[number];

export interface Options {
  readonly only: readonly FigureName[];
  readonly rounds: number;
  /** Of one gateway's turn in a round. */
  readonly seconds: number;
  /** How long streams are watched. */
  readonly minutes: number;
  /** How many requests have to be recorded. */
  readonly requests: number;
}

/** @throws Error when an option is not known or has no sense */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: FIGURES.filter((name) => name !== 'memory').join() },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '6' },
      minutes: { type: 'string', default: '10' },
      requests: { type: 'string', default: '100000' },
    },
  });
  const only = values.only.split(',').map((name) => {
    if (isFigure(name)) return name;
    throw new Error(`--only takes some of ${FIGURES.join()}, not ${name}`);
  });
  return {
    only,
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    minutes: positive('minutes', values.minutes),
    requests: positive('requests', values.requests),
  };
}

function isFigure(name: string): name is FigureName {
  return (FIGURES as readonly string[]).includes(name);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} takes a number above 0, not ${text}`);
  return value;
}
