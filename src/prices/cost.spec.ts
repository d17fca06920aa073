import fc from 'fast-check';
import { costOf } from './cost.js';
import { NO_COST, requestCost, UNKNOWN_COST } from './request-cost.js';
import { OwnPrices } from './own-prices.js';

const count = fc.nat(1_000_000_000);
/** Price as a whole number of 1e-4 USD per million tokens. */
const price = fc.nat(10_000_000_000);

it('costs are exact, as long as a number can be', () => {
  fc.assert(
    fc.property(
      fc.record({ input: count, cached: count, written: count, output: count }),
      fc.record({ input: price, output: price, cachedInput: price, cacheWrite: price }),
      (tokens, prices) => {
        const uncached = Math.max(0, tokens.input - tokens.cached - tokens.written);
        const units =
          BigInt(uncached) * BigInt(prices.input) +
          BigInt(tokens.cached) * BigInt(prices.cachedInput) +
          BigInt(tokens.written) * BigInt(prices.cacheWrite) +
          BigInt(tokens.output) * BigInt(prices.output);
        const usd = Object.fromEntries(
          Object.entries(prices).map(([name, units4]) => [name, units4 / 10_000]),
        );
        expect(costOf(tokens, usd as typeof prices)).toBe(Number(units) / 1e10);
      },
    ),
  );
});

it('costs of prices with any decimals are exact, and rounded half up', () => {
  const finePrice = fc.record({ digits: fc.nat(1_000_000_000), decimals: fc.nat(15) });
  fc.assert(
    fc.property(count, finePrice, count, finePrice, (input, inputPrice, output, outputPrice) => {
      const valueOf = ({ digits, decimals }: typeof inputPrice) => Number(`${digits}e-${decimals}`);
      // Units of 1e-21 USD: 15 decimals of a price per million tokens.
      const unitsOf = (tokens: number, { digits, decimals }: typeof inputPrice) =>
        BigInt(tokens) * BigInt(digits) * 10n ** BigInt(15 - decimals);
      const units = unitsOf(input, inputPrice) + unitsOf(output, outputPrice);
      const prices = {
        input: valueOf(inputPrice),
        output: valueOf(outputPrice),
        cachedInput: 0,
        cacheWrite: 0,
      };
      const rounded = (units + 5n * 10n ** 10n) / 10n ** 11n;
      expect(costOf({ input, cached: 0, written: 0, output }, prices)).toBe(Number(rounded) / 1e10);
    }),
  );
});

describe('requestCost', () => {
  const model = { name: 'm', upstreamId: 1, provider: 'custom', timeMs: 0 };
  const own = new OwnPrices([{ model: 'm', input: 1, output: 2 }]);
  const figures = (input: number | null, output: number | null) => ({
    ...{ input_tokens: input, cached_input_tokens: null, cache_write_tokens: null, output_tokens: output },
  });

  it.each([
    [figures(1_000_000, 1_000_000), { usd: 3, source: 'own' }],
    [figures(null, 1_000_000), { usd: 2, source: 'own' }],
    [figures(1_000_000, null), { usd: 1, source: 'own' }],
    [figures(null, null), UNKNOWN_COST],
    [figures(0, 0), NO_COST],
  ] as const)('prices %j at %j', (tokens, cost) => {
    expect(requestCost(tokens, model, own)).toEqual(cost);
  });

  it('is unknown without a model, without a price and without a listed provider', () => {
    expect(requestCost(figures(1, 1), { ...model, name: null }, own)).toEqual(UNKNOWN_COST);
    expect(requestCost(figures(1, 1), { ...model, name: 'n' }, own)).toEqual(UNKNOWN_COST);
    expect(requestCost(figures(1, 1), model, undefined)).toEqual(UNKNOWN_COST);
  });

  it.each([
    ['openrouter', 'neversleep/llama-3-lumimaid-8b', 1, 7, 0.000_005_343_8],
    ['perplexity', 'sonar', 100, 50, 0.012_15],
  ])('prices %s %s by the price list to the last decimal', (provider, name, input, output, usd) => {
    expect(
      requestCost(figures(input, output), { ...model, provider, name, timeMs: Date.now() }, undefined),
    ).toEqual({
      usd,
      source: 'list',
    });
  });

  it('prices more cached tokens than input without an error', () => {
    const odd = { ...figures(1, 1), cached_input_tokens: 5 };
    expect(
      requestCost(odd, { ...model, provider: 'deepseek', name: 'deepseek-chat' }, undefined).source,
    ).toBe('list');
  });
});
