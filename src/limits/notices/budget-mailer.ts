import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { NAME_MAX_CODE_POINTS } from '../../common/body/fields.js';
import { toDisplayName } from '../../common/text/display-name.js';
import { Settings } from '../../config/settings.js';
import { Transactions } from '../../database/transactions/transactions.js';
import type { MailMessage } from '../../mail/mail-message.js';
import { LEASE_MAIL, MailQueue } from '../../mail/mail-queue.js';
import type { LeasedMail } from '../../mail/mail-queue.js';
import { MailServer } from '../../mail/mail-server.js';
import { budgetMessage } from './budget-message.js';
import type { BudgetNotice } from './budget-message.js';

const ENQUEUE = `
  INSERT INTO budget_mails (organization_id, recipient, share, budget, due_at)
  SELECT m.organization_id, u.email, $2, $3, clock_timestamp()
  FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = $1 AND m.role = 'admin'`;

const LEASE = `
  UPDATE budget_mails AS b SET ${LEASE_MAIL}
  FROM organizations o
  WHERE o.id = b.organization_id AND b.id = (
    SELECT id FROM budget_mails WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING b.id, b.recipient, b.share, b.budget, b.attempts, o.name, o.kind`;

/** Sends mails about budgets to the admins of organizations, if a mail server is configured. */
@Injectable()
export class BudgetMailer extends MailQueue<BudgetMail> {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly settings: Settings,
    transactions: Transactions,
    server: MailServer,
  ) {
    super(server, transactions, 'send_budget_mails');
  }

  /** Queues a mail to every admin, and starts the delivery after the commit. */
  async enqueue(organizationId: number, notice: BudgetNotice, transaction: EntityManager): Promise<void> {
    if (!this.server.isConfigured) return;
    await transaction.query(ENQUEUE, [organizationId, notice.share, JSON.stringify(notice.budget)]);
    this.deliverAfterCommit(transaction);
  }

  /** Number of mails that wait to be sent, on all replicas together. */
  async count(): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      'SELECT count(*)::integer AS count FROM budget_mails',
    );
    return row!.count;
  }

  protected async lease(): Promise<BudgetMail | undefined> {
    const [[mail]] = await this.dataSource.query<[BudgetMail[], number]>(LEASE);
    return mail;
  }

  protected compose({ recipient: to, name, kind, share, budget }: BudgetMail): Promise<MailMessage> {
    const owner =
      kind === 'personal'
        ? 'Your personal organization'
        : (toDisplayName(name, NAME_MAX_CODE_POINTS) ?? 'Your team');
    return Promise.resolve({ to, ...budgetMessage({ share, budget }, owner, this.settings.dashboardUrl) });
  }

  protected async complete({ id }: BudgetMail): Promise<void> {
    await this.dataSource.query('DELETE FROM budget_mails WHERE id = $1', [id]);
  }

  protected idOf({ id }: BudgetMail): Record<string, number> {
    return { budgetMailId: id };
  }
}

interface BudgetMail extends LeasedMail, BudgetNotice {
  readonly id: number;
  readonly recipient: string;
  readonly name: string;
  readonly kind: 'personal' | 'team';
}
