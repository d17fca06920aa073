import { setTimeout as pause } from 'node:timers/promises';
import { groupBy } from './group.js';
import type { Ledger } from './ledger.js';
import type { Replica } from './replica.js';

interface Sample {
  readonly life: number;
  /** Minutes since the start of this life. */
  readonly age: number;
  readonly heapUsed: number;
  readonly rss: number;
}

export interface MemoryOfReplica {
  readonly replica: string;
  /** Duration of the longest life. */
  readonly minutes: number;
  readonly samples: number;
  /** MiB of heap after garbage collections: means of the three thirds after the warm-up. */
  readonly thirds: readonly number[];
  /** MiB per hour, by least squares. */
  readonly slope: number;
  /** MiB at the end. */
  readonly rss: number;
  /** MiB, over all lives. */
  readonly heapMax: number;
  readonly isFlat: boolean;
}

const EVERY_MS = 20_000;
const WARM_UP_SHARE = 0.15;
const MIN_SAMPLES = 9;
const GROWTH_SHARE = 0.1;
const GROWTH_MIB = 3;
const MIB = 2 ** 20;

/** Samples the heap of the replicas. A restart begins a new life. */
export class MemoryWatch {
  private readonly ending = new AbortController();
  private readonly samples = new Map<Replica, Sample[]>();

  constructor(replicas: readonly Replica[]) {
    for (const replica of replicas) this.samples.set(replica, []);
  }

  async run(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      for (const [replica, samples] of this.samples) await sample(replica, samples);
      await pause(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  end(): void {
    this.ending.abort();
  }

  /** Adds a finding for memory that grows. A run with too few samples gets none. */
  judge(ledger: Ledger): MemoryOfReplica[] {
    const results = [...this.samples].map(([{ name }, samples]) => summarize(name, samples));
    for (const { replica, isFlat, thirds, samples } of results) {
      if (samples < MIN_SAMPLES) continue;
      ledger.check('memory is flat', isFlat, `replica ${replica}: ${thirds.join(', ')} MiB`);
    }
    return results;
  }
}

async function sample(replica: Replica, samples: Sample[]): Promise<void> {
  const { life, bornAt } = replica;
  const memory = await replica.memory();
  if (!memory || replica.life !== life) return;
  const { heapUsed, rss } = memory;
  samples.push({ life, age: (performance.now() - bornAt) / 60_000, heapUsed, rss });
}

function summarize(replica: string, samples: readonly Sample[]): MemoryOfReplica {
  const lives = [...groupBy(samples, ({ life }) => life).values()];
  const longest = lives.reduce((a, b) => (b.length > a.length ? b : a), []);
  const minutes = longest.at(-1)?.age ?? 0;
  const settled = longest.filter(({ age }) => age >= minutes * WARM_UP_SHARE);
  const third = Math.ceil(settled.length / 3);
  const thirds = [0, 1, 2].map((i) => mean(settled.slice(i * third, (i + 1) * third).map(heapMib)));
  const growth = thirds[2]! - thirds[1]!;
  return {
    replica,
    minutes,
    thirds,
    samples: settled.length,
    slope: slope(settled),
    rss: (longest.at(-1)?.rss ?? NaN) / MIB,
    heapMax: Math.max(...samples.map(heapMib)),
    isFlat: growth <= Math.max(GROWTH_MIB, thirds[1]! * GROWTH_SHARE),
  };
}

function heapMib({ heapUsed }: Sample): number {
  return heapUsed / MIB;
}

function slope(samples: readonly Sample[]): number {
  const x = samples.map(({ age }) => age / 60);
  const y = samples.map(heapMib);
  const [mx, my] = [mean(x), mean(y)];
  const above = mean(x.map((value, i) => (value - mx) * (y[i]! - my)));
  return above / mean(x.map((value) => (value - mx) ** 2));
}

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}
