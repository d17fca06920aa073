import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

/** One number of a {@link Tally}: whoever holds it counts by `count.value++`. */
export interface Count {
  value: number;
}

/**
 * A counter for paths where prom-client's own, which builds a text of the labels for each `inc`, is too slow
 * (0.25 µs and garbage, against 0.01 µs): plain numbers, which it is told when it is asked.
 */
export class Tally<Label extends string> {
  private readonly counts: { labels: Record<Label, string>; count: Count }[] = [];

  constructor(registry: Registry, name: string, help: string, labelNames: readonly Label[]) {
    const { counts } = this;
    new Counter({
      ...{ name, help, labelNames, registers: [registry] },
      collect() {
        this.reset();
        for (const { labels, count } of counts) this.inc(labels, count.value);
      },
    });
  }

  /** A new number under these labels. To be kept by the caller; several under the same labels add up. */
  count(labels: Record<Label, string>): Count {
    const count = { value: 0 };
    this.counts.push({ labels, count });
    return count;
  }
}
