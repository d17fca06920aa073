import { About, Optional } from '../../common/body/fields.js';
import { ApiMember, ID, object, oneOf, orNull, text } from '../../common/api/members.js';
import { nestedField } from '../../common/body/nested-field.js';
import { PATTERN_MAX } from '../../common/text/model-pattern.js';
import { PROVIDERS } from '../../upstreams/provider.js';
import type { OwnPrice } from '../own-prices.js';
import { parsePrices, PRICE_MAX, PRICES_MAX } from '../parse-prices.js';
import type { ListedPrice } from '../price-list.js';

const PRICE = { type: 'number', minimum: 0, maximum: PRICE_MAX, example: 0.25 };
const OWN_PRICE = {
  type: 'object',
  properties: {
    model: { type: 'string', minLength: 1, maxLength: PATTERN_MAX, example: 'gpt-5-*' },
    upstream_id: ID,
    input: PRICE,
    output: PRICE,
    cached_input: PRICE,
    cache_write: PRICE,
  },
  required: ['model', 'input', 'output'],
};

const OWN_EXAMPLE = [{ model: 'gpt-5-*', input: 0.25, output: 2 }];

/** Own prices as a body, which replace all earlier ones. A wrong entry is rejected as `invalid_prices`. */
export class PutPricesDto {
  @About(
    'USD per million tokens, with at most 4 decimals. `model` is a pattern for the name that is sent to the upstream; ' +
      'the first match counts. `upstream_id` restricts a price to one upstream. `cached_input` and `cache_write` ' +
      'default to `input`.',
  )
  @Optional()
  @nestedField(
    {
      parse: parsePrices,
      schema: {
        type: 'array',
        items: OWN_PRICE,
        maxItems: PRICES_MAX,
        required: true,
        nullable: false,
        example: OWN_EXAMPLE,
      },
    },
    'invalid_prices',
  )
  prices?: readonly OwnPrice[];
}

/** Own prices in USD per million tokens. */
export class PricesResponse {
  @ApiMember(
    { type: 'array', items: OWN_PRICE, example: OWN_EXAMPLE },
    'In the order in which they are looked up.',
  )
  prices: readonly OwnPrice[];
}

const LISTED_PRICE = object({
  provider: oneOf(PROVIDERS),
  model: text('gpt-5-mini'),
  input: orNull(PRICE),
  output: orNull(PRICE),
  cached_input: orNull(PRICE),
  cache_write: orNull(PRICE),
});

const LISTED_EXAMPLE = {
  provider: 'openai',
  model: 'gpt-5-mini',
  input: 0.25,
  output: 2,
  cached_input: 0.025,
  cache_write: null,
};

/** Prices of the installed price list in USD per million tokens. */
export class PriceListResponse {
  @ApiMember(
    { type: 'array', items: LISTED_PRICE, example: [LISTED_EXAMPLE] },
    'USD per million tokens, by provider and model; null where unknown. Tiered prices have their base tier.',
  )
  prices: readonly ListedPrice[];
}
