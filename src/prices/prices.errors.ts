import { InvalidField } from '../common/api/domain-error.js';

/** A price names an upstream of another owner, or the prices are absent. */
export class InvalidPrices extends InvalidField {
  constructor(message = 'prices must be a list of prices') {
    super('invalid_prices', message);
  }
}
