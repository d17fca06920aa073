import { roundCost } from '../../common/text/decimal.js';
import { NO_COST, UNKNOWN_COST } from '../../prices/request-cost.js';
import type { RequestCost } from '../../prices/request-cost.js';

/** Sum of the costs of the responses of one connection. A response without a known cost adds nothing. */
export class ConnectionCost {
  private known?: RequestCost = undefined;
  private hasUnknown = false;

  add(cost: RequestCost): void {
    if (cost.usd === null) this.hasUnknown = true;
    else this.known = this.known ? sumOf(this.known, cost) : cost;
  }

  /** @param isResponding whether a response has begun whose cost will never be known */
  total(isResponding: boolean): RequestCost {
    return this.known ?? (this.hasUnknown || isResponding ? UNKNOWN_COST : NO_COST);
  }
}

function sumOf(sum: RequestCost, next: RequestCost): RequestCost {
  const usd = roundCost(sum.usd! + next.usd!);
  return { usd, source: next.source === 'none' ? sum.source : next.source };
}
