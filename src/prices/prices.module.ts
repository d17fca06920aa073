import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { PriceListController, PricesController } from './prices.controller.js';
import { PricesService } from './prices.service.js';

/** Prices of models: those of an owner, and the price list of an installed package. */
@Module({
  imports: [OrganizationsModule],
  controllers: [PricesController, PriceListController],
  providers: [PricesService],
  exports: [PricesService],
})
export class PricesModule {}
