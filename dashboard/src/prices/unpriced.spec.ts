import { insertPrice, unpricedModels } from './unpriced';

const NO_TIMES = { avg: null, p50: null, p95: null };
const group = (model: string | null, unpriced: number, cost: number | null, tokens: number | null = 10) => ({
  ...{ model, upstream_id: 1, upstream_name: 'Local', requests: 9, errors: 0 },
  ...{ unpriced_requests: unpriced, cost_usd: cost, total_tokens: tokens },
  ...{ input_tokens: null, cached_input_tokens: null, output_tokens: null },
  ...{ cache_write_tokens: null, reasoning_tokens: null, latency_ms: NO_TIMES, ttft_ms: NO_TIMES },
});
const bucket = (groups: ReturnType<typeof group>[]) => ({
  ...group(null, 0, null),
  ...{ start: '2026-11-01T00:00:00.000Z', end: '2026-11-02T00:00:00.000Z', groups },
});
const price = (model: string, upstream_id?: number) => ({
  ...{ model, input: 1, output: 2 },
  ...(upstream_id !== undefined && { upstream_id }),
});

it('adds up models without a price, by the name that the upstream gets', () => {
  const usage = {
    buckets: [
      bucket([
        group('fast', 2, null),
        group('big', 1, 0),
        group('priced', 1, 0.5),
        group('broken', 4, null, null),
      ]),
      bucket([group('fast', 3, null), group(null, 5, null)]),
    ],
  };
  const upstreams = [
    {
      id: 1,
      models: [
        { model: 'fast', as: 'llama-8b' },
        { model: '*', as: null },
      ],
    },
  ];
  const big = { model: 'big', upstreamId: 1, upstreamName: 'Local', requests: 1 };
  expect(unpricedModels(usage, upstreams, [])).toEqual([{ ...big, model: 'llama-8b', requests: 5 }, big]);
  expect(unpricedModels(usage, upstreams, [price('llama-*')])).toEqual([big]);
  expect(unpricedModels(usage, upstreams, [price('*', 2)])).toHaveLength(2);
  expect(unpricedModels(usage, upstreams, [price('*', 1)])).toEqual([]);
});

it('puts an exact name before the first pattern, and patterns last', () => {
  const prices = [price('a'), price('b*'), price('*')];
  const order = (model: string) => insertPrice(prices, price(model)).map((each) => each.model);
  expect(order('new')).toEqual(['a', 'new', 'b*', '*']);
  expect(order('new*')).toEqual(['a', 'b*', '*', 'new*']);
  expect(insertPrice([], price('x'))).toEqual([price('x')]);
});
