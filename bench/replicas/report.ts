import { turnsSection } from '../proxy/figures.js';
import { judge, notMeasured } from '../support/goals.js';
import type { Goal } from '../support/goals.js';
import type { Result, Section } from '../support/results.js';
import { percentile } from '../support/statistics.js';
import { formatNumber, markdownTable } from '../support/table.js';
import { medianOfRounds } from '../support/turns.js';
import type { Turns } from '../support/turns.js';
import { MIXES } from './mixes.js';
import type { Mix } from './mixes.js';
import type { Options } from './options.js';
import type { TurnFigures } from './turn.js';

export const REPLICAS = { '1 replica': 1, '2 replicas': 2, '4 replicas': 4 } as const;
export type Name = keyof typeof REPLICAS;
export const NAMES = Object.keys(REPLICAS) as Name[];

export type ReplicaTurns = Turns<Name, TurnFigures>;

const GOAL: Goal = {
  figure: 'requests served with a key after the response to its revocation',
  direction: 'at most',
  limit: 0,
  unit: 'requests',
};

const KIB = 1_024;
const MIB = KIB ** 2;
const GIB = KIB ** 3;
const DAY_SECONDS = 86_400;

/** A column: its title, its value in the figures of a turn, and the number of decimals. */
type Column = readonly [title: string, value: (figures: TurnFigures) => number, digits?: number];

export function report(turns: ReplicaTurns, { perSecond }: Options): Result {
  const rest = { ...turns, failures: [] }; // the first section lists the failed turns
  const rate = formatNumber(perSecond);
  const [first, second] = MIXES;
  return {
    goals: [judgeServed(turns)],
    sections: [
      section(`${rate} requests/s, ${first}`, turns, trafficColumns(first)),
      section(`${rate} requests/s, ${second}`, rest, trafficColumns(second)),
      section('Without requests', rest, IDLE_COLUMNS),
      section(`Revocations at ${rate} requests/s`, rest, REVOCATION_COLUMNS),
      section('Memory after the load and a garbage collection', rest, [
        ['RSS MiB per replica', ({ rss }) => rss / MIB],
      ]),
      calculation(turns),
    ],
  };
}

function trafficColumns(mix: Mix): Column[] {
  const perThousand = (bytes: number) => (bytes * 1_000) / KIB;
  return [
    ['CPU µs per request', ({ traffic }) => traffic[mix].cpuUs],
    ['% of the core per replica', ({ traffic }) => traffic[mix].corePercent, 1],
    ['PostgreSQL CPU µs per request', ({ traffic }) => traffic[mix].databaseCpuUs],
    ['statements/s', ({ traffic }) => traffic[mix].statementsPerSecond, 1],
    ['transactions/s', ({ traffic }) => traffic[mix].transactionsPerSecond, 1],
    ['WAL KiB per 1,000 requests', ({ traffic }) => perThousand(traffic[mix].walBytes)],
    ['records KiB per 1,000 requests', ({ traffic }) => perThousand(traffic[mix].recordBytes)],
    ['connections per replica', ({ traffic }) => traffic[mix].connections, 1],
  ];
}

const IDLE_COLUMNS: readonly Column[] = [
  ['statements/s per replica', ({ idle }) => idle.statementsPerSecond, 1],
  ['transactions/s per replica', ({ idle }) => idle.transactionsPerSecond, 1],
  ['% of the core per replica', ({ idle }) => idle.corePercent, 2],
  ['PostgreSQL % of its core', ({ idle }) => idle.databasePercent, 2],
  ['WAL KiB/s', ({ idle }) => idle.walBytesPerSecond / KIB, 1],
  ['connections per replica', ({ idle }) => idle.connections, 1],
];

const timeAt =
  (share: number) =>
  ({ revocations }: TurnFigures) =>
    percentile(revocations.timesMs, share);

const REVOCATION_COLUMNS: readonly Column[] = [
  ['p50 ms', timeAt(0.5), 1],
  ['p99 ms', timeAt(0.99), 1],
  ['slowest ms', timeAt(1), 1],
  ['revocations per round', ({ revocations }) => revocations.timesMs.length],
];

function section(title: string, turns: ReplicaTurns, columns: readonly Column[]): Section {
  const titles = columns.map(([column]) => column);
  return turnsSection(title, titles, turns, (name) =>
    columns.map(([, value, digits]) => formatNumber(medianOfRounds(turns.rounds[name], value), digits)),
  );
}

function judgeServed({ rounds }: ReplicaTurns) {
  const all = NAMES.flatMap((name) => rounds[name]).filter((figures) => figures !== undefined);
  if (all.length === 0) return notMeasured(GOAL);
  return judge(
    GOAL,
    all.reduce((sum, { revocations }) => sum + revocations.served, 0),
  );
}

/** Load at which PostgreSQL uses one whole core, if its CPU time grows with the number of requests. */
function calculation({ rounds }: ReplicaTurns): Section {
  const rows = MIXES.flatMap((mix) =>
    NAMES.map((name) => {
      const median = (value: (figures: TurnFigures) => number) => medianOfRounds(rounds[name], value);
      const perSecond = 1e6 / median(({ traffic }) => traffic[mix].databaseCpuUs);
      const cores = (perSecond * median(({ traffic }) => traffic[mix].cpuUs)) / 1e6;
      const gibPerDay = (bytes: number) => (perSecond * bytes * DAY_SECONDS) / GIB;
      return [
        `${name}, ${mix}`,
        formatNumber(perSecond),
        formatNumber(cores, 1),
        formatNumber(gibPerDay(median(({ traffic }) => traffic[mix].walBytes))),
        formatNumber(gibPerDay(median(({ traffic }) => traffic[mix].recordBytes))),
      ];
    }),
  );
  const columns = ['', 'requests/s', 'cores of replicas', 'WAL GiB per day', 'records GiB per day'];
  return { title: 'Calculated: load of one core of PostgreSQL', text: markdownTable(columns, rows) };
}
