import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { errorMessage } from '../../common/logging/error-message.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Jobs } from '../../jobs/jobs.js';
import { AuditTrail } from '../../organizations/audit/audit-trail.js';
import { scopeOf } from '../rules/applied-limits.js';
import { periodAt } from '../rules/budget-period.js';
import { Consumption } from '../consumption/consumption.js';
import { CONSUMPTION, consumptionValues } from '../consumption/consumption-statement.js';
import type { ConsumptionRow } from '../consumption/consumption-statement.js';
import { reaches } from '../rules/limit-set.js';
import type { Budget } from '../rules/limit-set.js';
import { BudgetMailer } from './budget-mailer.js';

/** Percentages of a budget that lead to a notice. */
const SHARES = [80, 100];
/** Start of the only period of the budget `total`. */
const EPOCH = new Date(0);
const BATCH = 200;

const WITH_BUDGET = `
  SELECT organization_id AS id, organization -> 'budget' AS budget FROM organization_limits
  WHERE jsonb_typeof(organization -> 'budget') = 'object' AND organization_id > $1 ORDER BY organization_id LIMIT ${BATCH}`;

interface BudgetOwner {
  readonly id: number;
  readonly budget: Budget;
}

/**
 * Notifies of organizations whose budget reaches 80 % and 100 %: once for each share and period. A row for each notice
 * makes it unique. Replicas notice it with the sums that they read for requests. A job finds the rest, such as sums that
 * grew when the journal of a crashed replica was written.
 */
@Injectable()
export class BudgetNotices {
  private readonly logger = new Logger(BudgetNotices.name);
  /** Notices that this replica knows to exist, by organization. */
  private readonly known = new Map<number, string>();

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    private readonly mailer: BudgetMailer,
    consumption: Consumption,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'notify_budgets', everySeconds: 30, work: () => this.checkAll() });
    consumption.onRead((scope) => {
      const { level, budget, organizationId: id } = scope.limits;
      if (level !== 'organization' || !budget) return;
      const { usd, start } = scope.spentInRecords;
      this.check({ id, budget }, new Date(start ?? EPOCH), usd).catch((error: unknown) =>
        this.logger.warn(
          { reason: errorMessage(error) },
          'a budget could not be checked; the job tries again',
        ),
      );
    });
  }

  /** Checks the budgets of all organizations. */
  async checkAll(): Promise<void> {
    for (let owners = await this.ownersAfter(0); owners.length > 0;) {
      await this.checkBatch(owners);
      owners = owners.length < BATCH ? [] : await this.ownersAfter(owners.at(-1)!.id);
    }
  }

  private ownersAfter(id: number): Promise<BudgetOwner[]> {
    return this.dataSource.query<BudgetOwner[]>(WITH_BUDGET, [id]);
  }

  private async checkBatch(owners: readonly BudgetOwner[]): Promise<void> {
    const scopes = owners.map(({ id, budget }) => ({
      ...scopeOf('organization', { id: 0, organizationId: id, userId: '' }),
      countsTokens: false,
      period: budget.period,
    }));
    const now = new Date();
    const values = consumptionValues(scopes, now);
    const rows = await this.dataSource.query<ConsumptionRow[]>(CONSUMPTION.text, values);
    const spentByScope = new Map(rows.map(({ scope, spent }) => [scope, spent]));
    for (const [i, owner] of owners.entries()) {
      const start = periodAt(owner.budget.period, now).start ?? EPOCH;
      await this.check(owner, start, spentByScope.get(scopes[i]!.name) ?? 0);
    }
  }

  /** @param start start of the period in which the amount was spent */
  private async check({ id, budget }: BudgetOwner, start: Date, spent: number): Promise<void> {
    const reached = SHARES.filter((share) => reaches(spent, budget, share));
    const notice = `${budget.period} ${start.toISOString()} ${reached.join()}`;
    if (reached.length === 0 || this.known.get(id) === notice) return;
    await this.transactions.run(async (transaction) => {
      for (const share of reached) await this.notify({ id, budget }, start, share, transaction);
    });
    this.known.set(id, notice);
  }

  private async notify(
    { id, budget }: BudgetOwner,
    start: Date,
    share: number,
    transaction: EntityManager,
  ): Promise<void> {
    const [created] = await transaction.query<unknown[]>(
      `INSERT INTO budget_notices (organization_id, period, period_start, share)
       SELECT id, $2, $3, $4 FROM organizations WHERE id = $1 ON CONFLICT DO NOTHING RETURNING share`,
      [id, budget.period, start.toISOString(), share],
    );
    if (!created) return;
    const [row] = await transaction.query<{ name: string }[]>(
      'SELECT name FROM organizations WHERE id = $1',
      [id],
    );
    const target = { type: 'organization', id, name: row!.name };
    const entry = { organizationId: id, actor: null, action: 'budget.reached', target } as const;
    await this.audit.record({ ...entry, details: { share } }, transaction);
    await this.mailer.enqueue(id, { share, budget }, transaction);
  }
}
