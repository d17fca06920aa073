import { findProvider } from '@pydantic/genai-prices';
import type { ModelInfo } from '@pydantic/genai-prices';
import { PROVIDERS } from '../upstreams/provider.js';
import { listPrices } from './price-list.js';

const NAMES = [
  ['input', 'input_mtok'],
  ['output', 'output_mtok'],
  ['cached_input', 'cache_read_mtok'],
  ['cache_write', 'cache_write_mtok'],
] as const;

/** Base prices of a model whose prices do not depend on the time. */
function basePrices({ prices }: ModelInfo): object | undefined {
  if (Array.isArray(prices)) return undefined;
  return Object.fromEntries(
    NAMES.map(([name, key]) => {
      const price = prices[key];
      return [name, typeof price === 'object' ? price.base : (price ?? null)];
    }),
  );
}

it('the list has the prices of every model of the package', () => {
  let compared = 0;
  for (const provider of PROVIDERS) {
    const models = findProvider({ providerId: provider === 'xai' ? 'x-ai' : provider })?.models ?? [];
    const listed = new Map(listPrices(provider, '', Infinity).map((price) => [price.model, price]));
    for (const model of models) {
      const expected = basePrices(model);
      if (!expected) continue;
      expect(listed.get(model.id)).toEqual({ provider, model: model.id, ...expected });
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(500);
});
