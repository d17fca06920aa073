import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { createTransport } from 'nodemailer';
import type { Transporter } from 'nodemailer';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Encryption } from '../common/encryption.js';
import { Settings } from '../config/settings.js';
import { Transactions } from '../database/transactions.js';
import { InvitationMail } from './invitation-mail.entity.js';
import { invitationMessage } from './invitation-message.js';
import { findInvitation } from './invitation-rows.js';
import { Invitation } from './invitation.entity.js';
import type { EmailDelivery } from './invitation.entity.js';

/** With a delay that doubles from one minute to an hour, the last attempt is about four hours after the first. */
const MAX_ATTEMPTS = 9;
const BATCH = 10;
const SMTP_TIMEOUT_MS = 30_000;

/**
 * Sends invitations by mail where there is a server for it. The queue is a table: a request only adds to it,
 * whatever the server does, and any replica sends. A mail may be sent twice should a replica die in between.
 */
@Injectable()
export class InvitationMailer implements OnApplicationShutdown {
  private readonly logger = new Logger(InvitationMailer.name);
  private readonly transport?: Transporter;
  private running?: Promise<void>;

  constructor(
    @InjectRepository(InvitationMail) private readonly mails: Repository<InvitationMail>,
    private readonly encryption: Encryption,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
  ) {
    const timeouts = {
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
    };
    if (settings.smtp) this.transport = createTransport({ url: settings.smtp.url, ...timeouts });
  }

  /** What a new invitation says of its mail. */
  get initialDelivery(): EmailDelivery {
    return this.transport ? 'queued' : 'disabled';
  }

  async onApplicationShutdown(): Promise<void> {
    this.transport?.close();
    await this.running;
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
      void this.deliver();
      return Promise.resolve();
    });
  }

  /** Takes back the mail of an invitation that is over. */
  async drop(invitationId: number, transaction: EntityManager): Promise<void> {
    await transaction.delete(InvitationMail, { invitationId });
  }

  /** Sends what is due. Runs once at a time on a replica; replicas share the queue by row locks. */
  @Cron(CronExpression.EVERY_10_SECONDS)
  deliver(): Promise<void> {
    if (!this.transport) return Promise.resolve();
    this.running ??= this.sendDue()
      .catch((error: unknown) =>
        this.logger.warn({ reason: (error as Error).message }, 'mails could not be sent'),
      )
      .finally(() => (this.running = undefined));
    return this.running;
  }

  private async sendDue(): Promise<void> {
    for (let mails = await this.lease(); mails.length > 0; mails = await this.lease()) {
      for (const mail of mails) await this.send(mail);
    }
  }

  /** Takes due mails for itself by moving their time to that of the next attempt. */
  private async lease(): Promise<LeasedMail[]> {
    const [rows] = await this.mails.query<[LeasedMail[], number]>(
      `UPDATE invitation_mails
       SET attempts = attempts + 1, due_at = now() + least(interval '1 minute' * power(2, attempts), interval '1 hour')
       WHERE invitation_id IN (
         SELECT invitation_id FROM invitation_mails WHERE due_at <= now() ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
       ) RETURNING invitation_id, sealed_token, attempts`,
    );
    return rows;
  }

  private async send(mail: LeasedMail): Promise<void> {
    try {
      const invitation = await findInvitation({ id: mail.invitation_id }, this.mails.manager);
      if (invitation?.response.status !== 'pending') return await this.settle(mail, 'failed');
      const token = this.encryption.decrypt(mail.sealed_token, context(mail.invitation_id));
      const message = invitationMessage(invitation, token, this.settings);
      await this.transport!.sendMail({ from: this.settings.smtp!.from, ...message });
      await this.settle(mail, 'sent');
    } catch (error) {
      const { message: reason } = error as Error;
      this.logger.warn(
        { invitationId: mail.invitation_id, attempts: mail.attempts, reason },
        'a mail was not sent',
      );
      if (mail.attempts >= MAX_ATTEMPTS) await this.settle(mail, 'failed');
    }
  }

  /** Unless a new mail has taken its place. */
  private async settle(mail: LeasedMail, delivery: EmailDelivery): Promise<void> {
    await this.mails.manager.transaction(async (transaction) => {
      const { invitation_id: invitationId, sealed_token: sealedToken } = mail;
      const { affected } = await transaction.delete(InvitationMail, { invitationId, sealedToken });
      if (affected === 1)
        await transaction.update(Invitation, { id: invitationId }, { emailDelivery: delivery });
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
