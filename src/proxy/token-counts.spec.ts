import { NO_TOKENS, tokenCounts } from './token-counts.js';

it.each([-1, 0.5, 1_000_000_001, Number.MAX_SAFE_INTEGER, 1e300, '5', true, [5], {}, null])(
  'takes %j for no count',
  (value) => {
    const usage = { prompt_tokens: value, completion_tokens: value, total_tokens: value };
    expect(tokenCounts(usage)).toEqual(NO_TOKENS);
  },
);

it('counts up to a thousand million', () => {
  const most = 1_000_000_000;
  expect(tokenCounts({ prompt_tokens: most, completion_tokens: 0 })).toEqual({
    ...{ input_tokens: most, cached_input_tokens: null, output_tokens: 0, total_tokens: most },
  });
});
