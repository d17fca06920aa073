import { Controller, Get, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BadRequest } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { AdminOnly, OwnedController, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { PriceListResponse, PricesResponse, PutPricesDto } from './dto/prices.dto.js';
import { PRICES_MAX } from './parse-prices.js';
import { listPrices } from './price-list.js';
import { InvalidPrices } from './prices.errors.js';
import { PricesService } from './prices.service.js';

/** Own prices of an owner. */
@ApiTags('Prices')
@OwnedController('prices')
export class PricesController {
  constructor(private readonly prices: PricesService) {}

  @Operation('getPrices', 'Get your own prices', {
    description: 'Returns an empty list without prices of your own.',
    response: PricesResponse,
  })
  @Get()
  async get(@Scope() scope: OwnerScope): Promise<PricesResponse> {
    return { prices: await this.prices.get(scope) };
  }

  @Operation('putPrices', 'Replace your own prices', {
    description: 'Applies to later requests. Recorded costs do not change.',
    response: PricesResponse,
    rejects: [InvalidPrices],
  })
  @AdminOnly('change prices')
  @Put()
  async put(@Scope() scope: OwnerScope, @JsonBody() { prices }: PutPricesDto): Promise<PricesResponse> {
    if (!prices) throw new InvalidPrices();
    return { prices: await this.prices.replace(scope, prices) };
  }
}

const LIST_QUERY = {
  provider: { type: 'string', description: 'Only this provider.' },
  model: { type: 'string', description: 'Only models whose name starts like this.' },
};

/** A parameter of the price list is repeated. */
class RepeatedParameter extends BadRequest {
  constructor() {
    super('provider and model must not be repeated');
  }
}

/** Prices that apply to owners without prices of their own. */
@ApiTags('Prices')
@Controller('me/prices')
export class PriceListController {
  @Operation('listPrices', 'Look up the price list', {
    description: `The prices that apply without prices of your own. At most ${PRICES_MAX} entries.`,
    response: PriceListResponse,
    query: LIST_QUERY,
    rejects: [RepeatedParameter],
  })
  @Get('list')
  list(@Query('provider') provider: unknown, @Query('model') model: unknown = ''): PriceListResponse {
    if (typeof model !== 'string' || (provider !== undefined && typeof provider !== 'string'))
      throw new RepeatedParameter();
    return { prices: listPrices(provider, model, PRICES_MAX) };
  }
}
