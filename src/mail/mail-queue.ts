import { Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errorMessage } from '../common/logging/error-message.js';
import type { Transactions } from '../database/transactions/transactions.js';
import type { MailMessage } from './mail-message.js';
import type { MailServer, ServedQueue } from './mail-server.js';

/** The delay doubles from one minute to one hour, so the last attempt is about three hours after the first. */
const MAX_ATTEMPTS = 9;

/** Assignments of an `UPDATE` that leases a mail: its time becomes that of the next attempt. */
export const LEASE_MAIL = `
  attempts = attempts + 1, due_at = now() + least(interval '1 minute' * power(2, attempts), interval '1 hour')`;

/** Mail that this replica has leased. */
export interface LeasedMail {
  /** Number of attempts, this one included. */
  readonly attempts: number;
}

/**
 * Queue of mails in a table: requests only add to it, and every replica sends from it. A mail is sent twice if a replica
 * crashes between sending and deleting the row.
 */
export abstract class MailQueue<Mail extends LeasedMail> implements ServedQueue {
  private readonly logger = new Logger(this.constructor.name);
  private running?: Promise<void> = undefined;

  /** @param job name of the job that sends waiting mails */
  constructor(
    protected readonly server: MailServer,
    protected readonly transactions: Transactions,
    job: string,
  ) {
    server.add(this, job);
  }

  /** Number of mails that wait to be sent, on all replicas together. */
  abstract count(): Promise<number>;

  /** Leases the mail that is due first, by {@link LEASE_MAIL}. */
  protected abstract lease(): Promise<Mail | undefined>;

  /** Creates the message of a mail. @returns undefined if there is no reason any more to send it */
  protected abstract compose(mail: Mail): Promise<MailMessage | undefined>;

  /** Deletes a mail that was sent or given up, and stores the result. */
  protected abstract complete(mail: Mail, delivery: 'sent' | 'failed'): Promise<void>;

  /** Identifies a mail in logs. */
  protected abstract idOf(mail: Mail): Record<string, number>;

  /** Sends all due mails. Runs once at a time per replica; replicas share the queue by row locks. */
  deliver(): Promise<void> {
    if (!this.server.isConfigured) return Promise.resolve();
    this.running ??= this.sendDue().finally(() => (this.running = undefined));
    return this.running;
  }

  /** Waits for the delivery that is running. Never rejects. */
  async untilIdle(): Promise<void> {
    await this.running?.catch(() => undefined);
  }

  /** Starts the delivery after the commit of a transaction that queues a mail. */
  protected deliverAfterCommit(transaction: EntityManager): void {
    this.transactions.afterCommit(transaction, () => {
      this.deliver().catch((error: unknown) =>
        this.logger.warn({ reason: errorMessage(error) }, 'mail delivery failed; the next run retries'),
      );
      return Promise.resolve();
    });
  }

  private async sendDue(): Promise<void> {
    while (!this.server.isStopping) {
      const mail = await this.lease();
      if (!mail) return;
      await this.send(mail);
    }
  }

  private async send(mail: Mail): Promise<void> {
    const { attempts } = mail;
    try {
      const message = await this.compose(mail);
      if (!message) return await this.complete(mail, 'failed');
      await this.server.send(message);
      await this.complete(mail, 'sent');
    } catch (error) {
      const reason = errorMessage(error);
      this.logger.warn({ ...this.idOf(mail), attempts, reason }, 'a mail could not be sent');
      if (attempts >= MAX_ATTEMPTS) await this.complete(mail, 'failed');
    }
  }
}
