import { NO_TOKENS, parseTokenCounts } from './token-counts.js';

it.each([-1, 0.5, 1_000_000_001, Number.MAX_SAFE_INTEGER, 1e300, '5', true, [5], {}, null])(
  'rejects %j as a count',
  (value) => {
    const usage = { prompt_tokens: value, completion_tokens: value, total_tokens: value };
    expect(parseTokenCounts(usage)).toEqual(NO_TOKENS);
  },
);

it('accepts counts up to 1,000,000,000', () => {
  const most = 1_000_000_000;
  expect(parseTokenCounts({ prompt_tokens: most, completion_tokens: 0 })).toEqual({
    ...NO_TOKENS,
    ...{ input_tokens: most, output_tokens: 0, total_tokens: most },
  });
});
