import { parseArgs } from 'node:util';
import { parseCount, parsePositive } from '../support/options.js';

/** The figures in the order in which they are measured. */
const FIGURES = ['throughput', 'latency', 'streams', 'first-byte', 'large', 'limits', 'records'] as const;
export type FigureName = (typeof FIGURES)[number];

export interface Options {
  readonly only: readonly FigureName[];
  readonly rounds: number;
  /** Duration of one turn. */
  readonly seconds: number;
  /** Duration of the last part of a warm-up at a fixed rate. */
  readonly warmUpSeconds: number;
  /** Number of requests of the figure `records`. */
  readonly requests: number;
  readonly isComplete: boolean;
  readonly output?: string;
  /** Checkout of an older version, built, that the figure `limits` measures as well. */
  readonly baseline?: string;
}

const FULL = { rounds: '3', seconds: '6', warmUpSeconds: 15, requests: '100000' };
/** A quick run omits `records`, whose outage takes a minute. */
const QUICK = { rounds: '1', seconds: '2', warmUpSeconds: 3, requests: '20000' };
const QUICK_FIGURES = FIGURES.filter((name) => name !== 'records');

/** @throws Error if an option is unknown or its value is invalid */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      requests: { type: 'string' },
      output: { type: 'string' },
      baseline: { type: 'string' },
    },
  });
  const defaults = values.quick ? QUICK : FULL;
  const rounds = parseCount('rounds', values.rounds ?? defaults.rounds);
  const seconds = parsePositive('seconds', values.seconds ?? defaults.seconds);
  const requests = parseCount('requests', values.requests ?? defaults.requests);
  return {
    only: values.only === undefined ? defaultFigures(values.quick) : parseFigures(values.only),
    rounds,
    seconds,
    requests,
    warmUpSeconds: defaults.warmUpSeconds,
    isComplete: !values.quick && values.only === undefined && isFull({ rounds, seconds, requests }),
    output: values.output,
    baseline: values.baseline,
  };
}

function defaultFigures(isQuick: boolean): readonly FigureName[] {
  return isQuick ? QUICK_FIGURES : FIGURES;
}

/** Whether a run measures at least as long as a default run. */
function isFull({ rounds, seconds, requests }: Pick<Options, 'rounds' | 'seconds' | 'requests'>): boolean {
  return (
    rounds >= Number(FULL.rounds) && seconds >= Number(FULL.seconds) && requests >= Number(FULL.requests)
  );
}

function parseFigures(text: string): FigureName[] {
  return text.split(',').map((name) => {
    if (isFigure(name)) return name;
    throw new Error(`--only must be a list of ${FIGURES.join()}: ${name}`);
  });
}

function isFigure(name: string): name is FigureName {
  return (FIGURES as readonly string[]).includes(name);
}
