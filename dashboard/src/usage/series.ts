import type { Schemas } from '../api/client';
import { groupId, groupLabels } from './group-labels';
import type { Group, Metric } from './view';

type Usage = Pick<Schemas['Usage'], 'buckets' | 'bucket'>;
type UsageGroup = Schemas['UsageGroup'];
type Measures = Schemas['UsageMeasures'];

/** Group over the whole range. */
export interface TopEntry {
  readonly id: string;
  readonly name: string;
  readonly requests: number;
  readonly errors: number;
  /** Null if no token was counted, which is not the same as zero. */
  readonly tokens: number | null;
  /** US dollars. Null if no cost is known. */
  readonly cost: number | null;
  /** Average, weighted by requests. Null if nothing was measured. */
  readonly latencyMs: number | null;
}

/** Rows for a chart: one per bucket, with a member per label. */
export interface Series {
  readonly names: readonly string[];
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
}

/** More series cannot be told apart by colour. */
const MAX_SERIES = 6;
const OTHER = 'other';

/** Sum while it is added up. */
interface Sum {
  requests: number;
  errors: number;
  tokens: number | null;
  cost: number | null;
  latency: number;
  /** Requests whose latency is known. */
  measured: number;
}

/** Sums the groups of all buckets, the largest first. */
export function topList({ buckets }: Usage, by: Group, metric: Metric): TopEntry[] {
  const groups = buckets.flatMap((bucket) => bucket.groups);
  const labels = groupLabels(groups, by);
  const sums = new Map<string, Sum>();
  for (const group of groups) {
    const id = groupId(group, by);
    const sum = sums.get(id) ?? { requests: 0, errors: 0, tokens: null, cost: null, latency: 0, measured: 0 };
    addTo(sum, group);
    sums.set(id, sum);
  }
  const entries = [...sums].map(([id, { latency, measured, ...sum }]) => ({
    id,
    name: labels.get(id)!,
    ...sum,
    latencyMs: measured === 0 ? null : latency / measured,
  }));
  return entries.toSorted((a, b) => valueOf(b, metric) - valueOf(a, metric) || b.requests - a.requests);
}

function addTo(sum: Sum, group: UsageGroup): void {
  sum.requests += group.requests;
  sum.errors += group.errors;
  sum.tokens = merge(sum.tokens, group.total_tokens);
  sum.cost = merge(sum.cost, group.cost_usd);
  if (group.latency_ms.avg === null) return;
  sum.latency += group.latency_ms.avg * group.requests;
  sum.measured += group.requests;
}

function valueOf(entry: TopEntry, metric: Metric): number {
  return (metric === 'latency' ? entry.latencyMs : entry[metric]) ?? 0;
}

/** Rows of the chart. Groups beyond the largest ones are added up as `other`, except for latencies. */
export function chartSeries(usage: Usage, by: Group, metric: Metric): Series {
  const top = topList(usage, by, metric);
  const shown = new Map(top.slice(0, MAX_SERIES).map(({ id, name }) => [id, name]));
  const names = [...shown.values()];
  const isLatency = metric === 'latency';
  const hasOther = top.length > shown.size && !isLatency;
  const rows = usage.buckets.map(({ start, groups }) => {
    const row: Record<string, string | number | null> = { at: label(start, usage.bucket) };
    for (const name of names) row[name] = isLatency ? null : 0;
    if (hasOther) row[OTHER] = 0;
    for (const group of groups) {
      const series = shown.get(groupId(group, by)) ?? OTHER;
      const value = measure(group, metric);
      // Percentiles do not add up. Each group has one value in a bucket.
      if (series in row) row[series] = isLatency ? value : merge(row[series] as number | null, value);
    }
    return row;
  });
  return { names: hasOther ? [...names, OTHER] : names, rows };
}

function merge(sum: number | null, value: number | null): number | null {
  return value === null ? sum : (sum ?? 0) + value;
}

function measure(measures: Measures, metric: Metric): number | null {
  if (metric === 'latency') return measures.latency_ms.p95;
  if (metric === 'cost') return measures.cost_usd;
  return metric === 'tokens' ? measures.total_tokens : measures[metric];
}

/** Label of a bucket. Days are those of the service, which counts in UTC. */
function label(start: string, bucket: string): string {
  const date = new Date(start);
  if (bucket === 'hour') return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return date.toLocaleDateString('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
}
