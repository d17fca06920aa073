import { filterOptions } from './filter-options';
import { chartSeries, topList } from './series';
import { parseUsageView, rangeQuery } from './view';

const times = (avg: number | null) => ({ avg, p50: avg, p95: avg });
const group = (model: string | null, requests: number, avg: number | null = 100) => ({
  model,
  requests,
  errors: requests > 5 ? 1 : 0,
  input_tokens: null,
  cached_input_tokens: null,
  output_tokens: null,
  total_tokens: requests * 10,
  cache_write_tokens: null,
  reasoning_tokens: null,
  cost_usd: model === null ? null : requests * 0.5,
  unpriced_requests: model === null ? requests : 0,
  latency_ms: times(avg),
  ttft_ms: times(null),
});
const bucket = (day: number, groups: ReturnType<typeof group>[]) => ({
  ...group(null, 0),
  start: `2026-11-0${day}T00:00:00.000Z`,
  end: `2026-11-0${day + 1}T00:00:00.000Z`,
  groups,
});
const usage = {
  bucket: 'day' as const,
  buckets: [
    bucket(1, [group('a', 1, 100), group('b', 6)]),
    bucket(2, []),
    bucket(3, [group('a', 3, 300), group(null, 2, null)]),
  ],
};

it('adds groups up over all buckets, and weighs latencies by requests', () => {
  expect(topList(usage, 'model', 'requests')).toEqual([
    { id: 'b', name: 'b', requests: 6, errors: 1, tokens: 60, cost: 3, latencyMs: 100 },
    { id: 'a', name: 'a', requests: 4, errors: 0, tokens: 40, cost: 2, latencyMs: 250 },
    { id: '', name: 'none', requests: 2, errors: 0, tokens: 20, cost: null, latencyMs: null },
  ]);
  expect(topList(usage, 'model', 'latency')[0]!.name).toBe('a');
});

it('has a row for each bucket, empty ones included', () => {
  expect(chartSeries(usage, 'model', 'tokens')).toEqual({
    names: ['b', 'a', 'none'],
    rows: [
      { at: 'Nov 1', b: 60, a: 10, none: 0 },
      { at: 'Nov 2', b: 0, a: 0, none: 0 },
      { at: 'Nov 3', b: 0, a: 30, none: 20 },
    ],
  });
});

it('has gaps in place of latencies that were not measured', () => {
  expect(chartSeries(usage, 'model', 'latency').rows[1]).toEqual({
    at: 'Nov 2',
    a: null,
    b: null,
    none: null,
  });
});

describe('keys with the same name', () => {
  const key = (id: number, name: string | null, email: string, requests: number) => ({
    ...group(null, requests, requests),
    key_id: id,
    key_name: name,
    user_id: email,
    user_email: email,
  });
  const keys = [
    key(1, 'Laptop', 'ada@example.com', 4),
    key(2, 'Laptop', 'bob@example.com', 3),
    key(3, 'Phone', 'ada@example.com', 2),
    key(4, 'CI', 'ada@example.com', 1),
    key(5, 'CI', 'ada@example.com', 1),
    key(6, '', 'ada@example.com', 1),
  ];
  const byKey = { bucket: 'day' as const, buckets: [bucket(1, keys)] };
  const labels = [
    'Laptop (ada@example.com)',
    'Laptop (bob@example.com)',
    'Phone',
    'CI (ada@example.com) (key 4)',
    'CI (ada@example.com) (key 5)',
    'key 6',
  ];

  it('are kept apart by holder, or else by id', () => {
    expect(topList(byKey, 'key', 'requests').map(({ name }) => name)).toEqual(labels);
    expect(chartSeries(byKey, 'key', 'requests').names).toEqual(labels);
  });

  it('keep their latencies, which do not add up', () => {
    const { rows } = chartSeries(byKey, 'key', 'latency');
    expect(rows[0]).toMatchObject({ [labels[0]!]: 4, [labels[1]!]: 3 });
  });

  it('are told apart in the filter', () => {
    expect(filterOptions(byKey, 'key', '').map(({ value, label }) => [value, label])).toEqual([
      ['4', labels[3]],
      ['5', labels[4]],
      ['6', labels[5]],
      ['1', labels[0]],
      ['2', labels[1]],
      ['3', labels[2]],
    ]);
  });
});

it('adds small groups up', () => {
  const many = {
    bucket: 'day' as const,
    buckets: [
      bucket(
        1,
        Array.from({ length: 9 }, (_, index) => group(`m${index}`, 9 - index)),
      ),
    ],
  };
  const { names, rows } = chartSeries(many, 'model', 'requests');
  expect(names).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'other']);
  expect(rows[0]).toMatchObject({ m0: 9, other: 6 });
  expect(chartSeries(many, 'model', 'latency').names).not.toContain('other');
});

it('reads the state of the URL', () => {
  expect(
    parseUsageView({ range: '7d', group: 'user', metric: 'nonsense', errors: 'true', model: 'o3', key: 'x' }),
  ).toEqual({
    range: '7d',
    group: 'user',
    metric: 'requests',
    tab: 'charts',
    onlyErrors: true,
    filters: { model: 'o3' },
  });
});

it('ends at the next full hour', () => {
  expect(rangeQuery('24h', Date.parse('2026-11-23T10:20:00Z'))).toEqual({
    from: '2026-11-22T11:00:00.000Z',
    to: '2026-11-23T11:00:00.000Z',
    bucket: 'hour',
  });
});
