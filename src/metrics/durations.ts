import type { Metric, Registry } from 'prom-client';

interface Series {
  /** By bound; beyond the last one at the end. */
  readonly counts: number[];
  readonly labels: Record<string, string>;
  sum: number;
}

/** What every histogram says of itself. */
export interface DurationsOptions {
  /** Ends with `_seconds`. */
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper ends of the buckets in seconds, in order; the last bucket has none. */
  readonly bounds: readonly number[];
}

/**
 * A histogram of durations for paths where prom-client's own, which builds a text of the labels and looks at each
 * of them for every observation, is too slow: 0.3 µs for one label in a loop, and more than 1 µs between all that a
 * request does, against 0.05.
 */
export class Durations {
  private readonly series = new Map<string, Series>();

  constructor(
    registry: Registry,
    private readonly options: DurationsOptions,
  ) {
    // All that a registry asks of a metric: its types know its own classes only.
    const metric = { name: options.name, get: () => this.get() };
    registry.registerMetric(metric as unknown as Metric);
  }

  /** @param values of the labels, few altogether */
  observe(seconds: number, ...values: readonly string[]): void {
    const series = this.seriesOf(values);
    const { bounds } = this.options;
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at++;
    series.counts[at]!++;
    series.sum += seconds;
  }

  private seriesOf(values: readonly string[]): Series {
    const key = values.length === 1 ? values[0]! : values.join('\0');
    const known = this.series.get(key);
    if (known) return known;
    const { labelNames, bounds } = this.options;
    const labels = Object.fromEntries(labelNames.map((label, i) => [label, values[i]!]));
    const series: Series = { counts: [...bounds, Infinity].map(() => 0), labels, sum: 0 };
    this.series.set(key, series);
    return series;
  }

  private get() {
    const { name, help } = this.options;
    const values = [...this.series.values()].flatMap((series) => this.valuesOf(series));
    return { name, help, type: 'histogram', values };
  }

  private valuesOf({ counts, labels, sum }: Series) {
    const { name, bounds } = this.options;
    let total = 0;
    const buckets = [...bounds, '+Inf'].map((le, i) => ({
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
      value: (total += counts[i]!),
    }));
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }
}
