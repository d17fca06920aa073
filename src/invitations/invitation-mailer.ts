import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { createTransport } from 'nodemailer';
import type { Transporter } from 'nodemailer';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Encryption } from '../common/encryption.js';
import { messagesOf } from '../common/messages-of.js';
import { tokenHash } from '../common/secret-token.js';
import { Settings } from '../config/settings.js';
import { Transactions } from '../database/transactions.js';
import { Jobs } from '../jobs/jobs.js';
import { Metrics } from '../metrics/metrics.js';
import { InvitationMail } from './invitation-mail.entity.js';
import { invitationMessage } from './invitation-message.js';
import { findInvitation } from './invitation-rows.js';
import { Invitation } from './invitation.entity.js';
import type { EmailDelivery } from './invitation.entity.js';

/** With a delay that doubles from one minute to an hour, the last attempt is about three hours after the first. */
const MAX_ATTEMPTS = 9;
/** Less than the first delay: as long as a mail is being sent, it is not due for anybody else. */
const SEND_TIMEOUT_MS = 45_000;
/** How long the end of the service waits for the mail that is being sent; an unfinished one stays in the queue. */
const SHUTDOWN_TIMEOUT_MS = 3_000;

/**
 * Sends invitations by mail where there is a server for it. The queue is a table: a request only adds to it,
 * whatever the server does, and any replica sends. A mail may be sent twice should a replica die in between.
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
    metrics.gauge('mintkeep_mail_queue_messages', 'Mails in all that wait to be sent', () =>
      this.mails.count(),
    );
    if (settings.smtp) this.transport = createTransport(settings.smtp.url);
  }

  /** What a new invitation says of its mail. */
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

  /** Adds the mail with this token, in place of one that still waits, and sends it once that is committed. */
  async enqueue(invitationId: number, token: string, transaction: EntityManager): Promise<void> {
    if (!this.transport) return;
    const sealed = this.encryption.encrypt(token, context(invitationId));
    await transaction.query(
      `INSERT INTO invitation_mails (invitation_id, sealed_token, due_at) VALUES ($1, $2, clock_timestamp())
       ON CONFLICT (invitation_id) DO UPDATE SET sealed_token = $2, attempts = 0, due_at = clock_timestamp()`,
      [invitationId, sealed],
    );
    this.transactions.afterCommit(transaction, () => {
      this.deliver().catch((error: unknown) =>
        this.logger.warn({ reason: messagesOf(error) }, 'a mail is left for the next time'),
      );
      return Promise.resolve();
    });
  }

  /** Takes back the mail of an invitation that is over. For the holder of the invitation's lock. */
  async drop(invitationId: number, transaction: EntityManager): Promise<void> {
    const { affected } = await transaction.delete(InvitationMail, { invitationId });
    if (affected === 1)
      await transaction.update(Invitation, { id: invitationId }, { emailDelivery: 'failed' });
  }

  /** Sends what is due. Runs once at a time on a replica; replicas that send at once share the queue by row locks. */
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

  /** Takes a due mail for itself by moving its time to that of the next attempt. One: the next may have to wait. */
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
      if (invitation?.response.status !== 'pending') return await this.settle(mail, 'failed');
      const token = this.encryption.decrypt(mail.sealed_token, context(mail.invitation_id));
      const message = invitationMessage(invitation, token, this.settings);
      const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
      await this.transport!.sendMail({ from: this.settings.smtp!.from, ...message, signal });
      await this.settle(mail, 'sent', token);
    } catch (error) {
      const reason = messagesOf(error);
      this.logger.warn(
        { invitationId: mail.invitation_id, attempts: mail.attempts, reason },
        'a mail was not sent',
      );
      if (mail.attempts >= MAX_ATTEMPTS) await this.settle(mail, 'failed');
    }
  }

  /**
   * Ends a mail, unless a new one has taken its place. Invitation first, mail second: the order that everybody
   * keeps.
   * @param token of a mail that was sent: then that counts, also where the mail was taken back meanwhile
   */
  private async settle(mail: LeasedMail, delivery: EmailDelivery, token?: string): Promise<void> {
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

function context(invitationId: number): string {
  return `invitation-mail:${invitationId}`;
}
