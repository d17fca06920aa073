import { Injectable } from '@nestjs/common';
import { roundCost } from '../common/text/decimal.js';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import type { LimitScope } from './rules/applied-limits.js';
import { periodAt } from './rules/budget-period.js';
import { CONSUMPTION, consumptionValues } from './consumption/consumption-statement.js';
import type { ConsumptionRow } from './consumption/consumption-statement.js';
import type { BudgetStatus, LimitStatusResponse } from './dto/limits.dto.js';
import { reaches } from './rules/limit-set.js';
import type { Budget, LimitSet } from './rules/limit-set.js';

/** Requests without an upstream were rejected or given up before their admission, except the lists that mintkeep makes. */
const REQUESTS = {
  name: 'limits.requests',
  text: `SELECT count(*) AS requests FROM usage_records
    WHERE organization_id = $1 AND at > now() - interval '60 seconds'
      AND ($2::text IS NULL OR user_id = $2) AND ($3::bigint IS NULL OR key_id = $3)
      AND (upstream_id IS NOT NULL OR outcome = 'ok')`,
};

/** Consumption of a scope for people to read, from the usage records. */
@Injectable()
export class LimitStatus {
  constructor(private readonly queries: PreparedQueries) {}

  async read(scope: LimitScope, { budget }: LimitSet): Promise<LimitStatusResponse> {
    const now = new Date();
    const query = { ...scope, countsTokens: true, period: budget?.period ?? null };
    const { organizationId, userId, keyId } = scope;
    const [[consumption], [counted]] = await Promise.all([
      this.queries.rows<ConsumptionRow & object>(CONSUMPTION, consumptionValues([query], now)),
      this.queries.rows<{ requests: number }>(REQUESTS, [organizationId, userId, keyId]),
    ]);
    return {
      requests_last_minute: counted!.requests,
      tokens_last_minute: consumption!.tokens!.reduce((sum, [, tokens]) => sum + tokens, 0),
      budget: budget && budgetStatus(budget, consumption!.spent!, now),
    };
  }
}

function budgetStatus({ usd, period }: Budget, spent: number, now: Date): BudgetStatus {
  const { start, end } = periodAt(period, now);
  return {
    spent_usd: spent,
    remaining_usd: Math.max(0, roundCost(usd - spent)),
    period_start: start?.toISOString() ?? null,
    period_end: end?.toISOString() ?? null,
    is_exceeded: reaches(spent, { usd, period }),
  };
}
