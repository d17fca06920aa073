import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { createTransport } from 'nodemailer';
import type { Transporter } from 'nodemailer';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Encryption } from '../common/crypto/encryption.js';
import { errorMessage } from '../common/logging/error-message.js';
import { tokenHash } from '../common/crypto/secret-token.js';
import { Settings } from '../config/settings.js';
import { Transactions } from '../database/transactions/transactions.js';
import { Jobs } from '../jobs/jobs.js';
import { Metrics } from '../metrics/metrics.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { grantMail } from './invitation-mail-limits.js';
import { InvitationMail } from './invitation-mail.entity.js';
import { invitationMessage } from './invitation-message.js';
import { findInvitation } from './invitation-rows.js';
import { Invitation } from './invitation.entity.js';
import type { EmailDelivery } from './invitation.entity.js';

/** The delay doubles from one minute to one hour, so the last attempt is about three hours after the first. */
const MAX_ATTEMPTS = 9;
/** Shorter than the first delay, so that no other replica takes a mail that is being sent. */
const SEND_TIMEOUT_MS = 45_000;
/** Time that a shutdown waits for the mail that is being sent. An unfinished mail stays in the queue. */
const SHUTDOWN_TIMEOUT_MS = 3_000;

/**
 * Sends invitations by mail if a mail server is configured. The queue is a table: requests only add to it, and every
 * replica sends from it. A mail is sent twice if a replica crashes between sending and deleting the row.
 */
@Injectable()
export class InvitationMailer implements OnApplicationShutdown {
  private readonly logger = new Logger(InvitationMailer.name);
  private readonly transport?: Transporter;
  private readonly stopping = new AbortController();
  private running?: Promise<void>;
  private stopped = false;

  constructor(
    @InjectRepository(InvitationMail) private readonly mails: Repository<InvitationMail>,
    private readonly encryption: Encryption,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    metrics: Metrics,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'send_mails', everySeconds: 10, work: () => this.deliver() });
    metrics.gauge(
      'mintkeep_mail_queue_messages',
      'Mails that wait to be sent, on all replicas together',
      () => this.mails.count(),
    );
    if (settings.smtp) this.transport = createTransport(settings.smtp.url);
  }

  /** Delivery state of a new invitation. */
  get initialDelivery(): EmailDelivery {
    return this.transport ? 'queued' : 'disabled';
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    const cutOff = setTimeout(() => this.stopping.abort(), SHUTDOWN_TIMEOUT_MS);
    await this.running?.catch(() => undefined);
    clearTimeout(cutOff);
    this.transport?.close();
  }

  /**
   * Queues the mail with this token, replaces a queued mail, and starts the delivery after the commit. Beyond a limit,
   * no mail is queued. Requires the organization's lock.
   */
  async enqueue(
    scope: OwnerScope,
    invitationId: number,
    token: string,
    transaction: EntityManager,
  ): Promise<void> {
    if (!this.transport) return;
    const sealed = this.encryption.encrypt(token, encryptionContext(invitationId));
    if (!(await grantMail(scope, invitationId, transaction))) {
      await transaction.update(Invitation, { id: invitationId }, { emailDelivery: 'rate_limited' });
      return replaceToken(invitationId, sealed, transaction);
    }
    await transaction.query(
      `INSERT INTO invitation_mails (invitation_id, sealed_token, due_at) VALUES ($1, $2, clock_timestamp())
       ON CONFLICT (invitation_id) DO UPDATE SET sealed_token = $2, attempts = 0, due_at = clock_timestamp()`,
      [invitationId, sealed],
    );
    this.transactions.afterCommit(transaction, () => {
      this.deliver().catch((error: unknown) =>
        this.logger.warn({ reason: errorMessage(error) }, 'mail delivery failed; the next run retries'),
      );
      return Promise.resolve();
    });
  }

  /** Removes the queued mail of an invitation that is no longer pending. Requires the invitation's lock. */
  async cancel(invitationId: number, transaction: EntityManager): Promise<void> {
    const { affected } = await transaction.delete(InvitationMail, { invitationId });
    if (affected === 1)
      await transaction.update(Invitation, { id: invitationId }, { emailDelivery: 'failed' });
  }

  /** Sends all due mails. Runs once at a time per replica; replicas share the queue by row locks. */
  deliver(): Promise<void> {
    if (!this.transport) return Promise.resolve();
    this.running ??= this.sendDue().finally(() => (this.running = undefined));
    return this.running;
  }

  private async sendDue(): Promise<void> {
    while (!this.stopped) {
      const mail = await this.lease();
      if (!mail) return;
      await this.send(mail);
    }
  }

  /** Leases the mail that is due first by moving its time to that of the next attempt. */
  private async lease(): Promise<LeasedMail | undefined> {
    const [[mail]] = await this.mails.query<[LeasedMail[], number]>(
      `UPDATE invitation_mails
       SET attempts = attempts + 1, due_at = now() + least(interval '1 minute' * power(2, attempts), interval '1 hour')
       WHERE invitation_id = (
         SELECT invitation_id FROM invitation_mails WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
       ) RETURNING invitation_id, sealed_token, attempts`,
    );
    return mail;
  }

  private async send(mail: LeasedMail): Promise<void> {
    try {
      const invitation = await findInvitation({ id: mail.invitation_id }, this.mails.manager);
      if (invitation?.response.status !== 'pending') return await this.complete(mail, 'failed');
      const token = this.encryption.decrypt(mail.sealed_token, encryptionContext(mail.invitation_id));
      const message = invitationMessage(invitation, token, this.settings);
      const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
      await this.transport!.sendMail({ from: this.settings.smtp!.from, ...message, signal });
      await this.complete(mail, 'sent', token);
    } catch (error) {
      const reason = errorMessage(error);
      this.logger.warn(
        { invitationId: mail.invitation_id, attempts: mail.attempts, reason },
        'a mail could not be sent',
      );
      if (mail.attempts >= MAX_ATTEMPTS) await this.complete(mail, 'failed');
    }
  }

  /**
   * Stores the result of a delivery, unless a new mail replaced this one. Locks the invitation before the mail, as all
   * transactions do.
   * @param token of a mail that was sent, which counts even if the mail was cancelled in the meantime
   */
  private async complete(mail: LeasedMail, delivery: EmailDelivery, token?: string): Promise<void> {
    const { invitation_id: id, sealed_token: sealedToken } = mail;
    await this.transactions.run(async (transaction) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const { tokenSha256 } = await transaction.findOneOrFail(Invitation, { where: { id }, lock });
      const { affected } = await transaction.delete(InvitationMail, { invitationId: id, sealedToken });
      const sent = token !== undefined && tokenSha256.equals(tokenHash(token));
      if (affected === 1 || sent) await transaction.update(Invitation, { id }, { emailDelivery: delivery });
    });
  }
}

interface LeasedMail {
  invitation_id: number;
  sealed_token: Buffer;
  attempts: number;
}

/**
 * Stores a new token in a queued mail that waits for its first attempt. Deletes every other mail: its link is invalid,
 * and another attempt could exceed the limit.
 */
async function replaceToken(
  invitationId: number,
  sealedToken: Buffer,
  transaction: EntityManager,
): Promise<void> {
  const { affected } = await transaction.update(
    InvitationMail,
    { invitationId, attempts: 0 },
    { sealedToken },
  );
  if (affected === 0) await transaction.delete(InvitationMail, { invitationId });
}

function encryptionContext(invitationId: number): string {
  return `invitation-mail:${invitationId}`;
}
