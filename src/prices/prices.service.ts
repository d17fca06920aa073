import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import { UrgentQueries } from '../database/connection/urgent-queries.js';
import { Transactions } from '../database/transactions/transactions.js';
import { AuditTrail } from '../organizations/audit/audit-trail.js';
import { lockAdminRole } from '../organizations/scope/organization-locks.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { UpstreamsChanged } from '../upstreams/upstreams.service.js';
import { OwnPrices } from './own-prices.js';
import type { OwnPrice } from './own-prices.js';
import { InvalidPrices } from './prices.errors.js';

const GET = {
  name: 'prices.get',
  text: 'SELECT prices FROM organization_prices WHERE organization_id = $1',
};

interface PricesRow {
  prices: readonly OwnPrice[];
}

/** Own prices of an organization. */
@Injectable()
export class PricesService {
  constructor(
    private readonly queries: PreparedQueries,
    private readonly urgent: UrgentQueries,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  async get({ organizationId }: OwnerScope): Promise<readonly OwnPrice[]> {
    const [row] = await this.queries.rows<PricesRow>(GET, [organizationId]);
    return row?.prices ?? [];
  }

  /** Finds the compiled prices for the proxy; undefined if there are none. */
  async find(organizationId: number): Promise<OwnPrices | undefined> {
    const [row] = await this.urgent.rows<PricesRow>(GET, [organizationId]);
    return row && row.prices.length > 0 ? new OwnPrices(row.prices) : undefined;
  }

  /** Replaces all prices. Replicas load them together with the upstreams. @throws InvalidPrices @throws AdminsOnly */
  replace(scope: OwnerScope, prices: readonly OwnPrice[]): Promise<readonly OwnPrice[]> {
    const { organizationId, user } = scope;
    return this.transactions.run(async (transaction) => {
      await lockAdminRole(scope, 'change prices', transaction);
      await assertOwnUpstreams(organizationId, prices, transaction);
      await transaction.query(
        `INSERT INTO organization_prices (organization_id, prices) VALUES ($1, $2)
         ON CONFLICT (organization_id) DO UPDATE SET prices = excluded.prices`,
        [organizationId, JSON.stringify(prices)],
      );
      const target = { type: 'prices', id: organizationId };
      const details = { entries: prices.length };
      await this.audit.record(
        { organizationId, actor: user, action: 'prices.changed', target, details },
        transaction,
      );
      await this.transactions.emit(new UpstreamsChanged(organizationId), transaction);
      return prices;
    });
  }
}

/** @throws InvalidPrices */
async function assertOwnUpstreams(
  organizationId: number,
  prices: readonly OwnPrice[],
  transaction: EntityManager,
): Promise<void> {
  const ids = [...new Set(prices.flatMap(({ upstream_id }) => upstream_id ?? []))];
  if (ids.length === 0) return;
  const rows = await transaction.query<{ id: number }[]>(
    'SELECT id FROM upstreams WHERE organization_id = $1 AND id = ANY ($2::bigint[])',
    [organizationId, ids],
  );
  const found = new Set(rows.map(({ id }) => id));
  const index = prices.findIndex(({ upstream_id: id }) => id !== undefined && !found.has(id));
  if (index >= 0)
    throw new InvalidPrices(
      `prices is invalid: price ${index + 1} needs the upstream_id of an upstream of this organization`,
    );
}
