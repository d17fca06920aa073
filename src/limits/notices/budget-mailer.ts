import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { createTransport } from 'nodemailer';
import type { Transporter } from 'nodemailer';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { NAME_MAX_CODE_POINTS } from '../../common/api/fields.js';
import { errorMessage } from '../../common/logging/error-message.js';
import { toDisplayName } from '../../common/text/display-name.js';
import { Settings } from '../../config/settings.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Jobs } from '../../jobs/jobs.js';
import { budgetMessage } from './budget-message.js';
import type { BudgetNotice } from './budget-message.js';

/** The delay doubles from one minute, so the last attempt is about four hours after the first. */
const MAX_ATTEMPTS = 9;
/** Shorter than the first delay, so that no other replica takes a mail that is being sent. */
const SEND_TIMEOUT_MS = 45_000;

const ENQUEUE = `
  INSERT INTO budget_mails (organization_id, recipient, share, budget, due_at)
  SELECT m.organization_id, u.email, $2, $3, clock_timestamp()
  FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = $1 AND m.role = 'admin'`;

/** Leases the mail that is due first by moving its time to that of the next attempt. */
const LEASE = `
  UPDATE budget_mails AS b
  SET attempts = attempts + 1, due_at = now() + interval '1 minute' * power(2, attempts)
  FROM organizations o
  WHERE o.id = b.organization_id AND b.id = (
    SELECT id FROM budget_mails WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING b.id, b.recipient, b.share, b.budget, b.attempts, o.name, o.kind`;

/** Sends mails about budgets to the admins of organizations, if a mail server is configured. The queue is a table. */
@Injectable()
export class BudgetMailer implements OnApplicationShutdown {
  private readonly logger = new Logger(BudgetMailer.name);
  private readonly transport?: Transporter;
  private readonly stopping = new AbortController();
  private running?: Promise<void> = undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'send_budget_mails', everySeconds: 10, work: () => this.deliver() });
    if (settings.smtp) this.transport = createTransport(settings.smtp.url);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running?.catch(() => undefined);
    this.transport?.close();
  }

  /** Queues a mail to every admin, and starts the delivery after the commit. */
  async enqueue(organizationId: number, notice: BudgetNotice, transaction: EntityManager): Promise<void> {
    if (!this.transport) return;
    await transaction.query(ENQUEUE, [organizationId, notice.share, JSON.stringify(notice.budget)]);
    this.transactions.afterCommit(transaction, () => {
      this.deliver().catch((error: unknown) =>
        this.logger.warn({ reason: errorMessage(error) }, 'mail delivery failed; the next run retries'),
      );
      return Promise.resolve();
    });
  }

  /** Sends all due mails. Runs once at a time per replica; replicas share the queue by row locks. */
  deliver(): Promise<void> {
    if (!this.transport) return Promise.resolve();
    this.running ??= this.sendDue().finally(() => (this.running = undefined));
    return this.running;
  }

  private async sendDue(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const [[mail]] = await this.dataSource.query<[LeasedMail[], number]>(LEASE);
      if (!mail) return;
      await this.send(mail);
    }
  }

  private async send({ id, recipient: to, attempts, name, kind, ...notice }: LeasedMail): Promise<void> {
    const owner =
      kind === 'personal'
        ? 'Your personal organization'
        : (toDisplayName(name, NAME_MAX_CODE_POINTS) ?? 'Your team');
    const message = budgetMessage(notice, owner, this.settings.dashboardUrl);
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
    try {
      await this.transport!.sendMail({ from: this.settings.smtp!.from, to, ...message, signal });
    } catch (error) {
      this.logger.warn({ attempts, reason: errorMessage(error) }, 'a mail could not be sent');
      if (attempts < MAX_ATTEMPTS) return;
    }
    await this.dataSource.query('DELETE FROM budget_mails WHERE id = $1', [id]);
  }
}

interface LeasedMail extends BudgetNotice {
  readonly id: number;
  readonly recipient: string;
  readonly attempts: number;
  readonly name: string;
  readonly kind: 'personal' | 'team';
}
