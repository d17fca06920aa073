import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Encryption } from '../common/crypto/encryption.js';
import { tokenHash } from '../common/crypto/secret-token.js';
import { Settings } from '../config/settings.js';
import { Transactions } from '../database/transactions/transactions.js';
import type { MailMessage } from '../mail/mail-message.js';
import { LEASE_MAIL, MailQueue } from '../mail/mail-queue.js';
import type { LeasedMail } from '../mail/mail-queue.js';
import { MailServer } from '../mail/mail-server.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { grantMail } from './invitation-mail-limits.js';
import { InvitationMail } from './invitation-mail.entity.js';
import { invitationMessage } from './invitation-message.js';
import { findInvitation } from './invitation-rows.js';
import { Invitation } from './invitation.entity.js';
import type { EmailDelivery } from './invitation.entity.js';

/** Sends invitations by mail if a mail server is configured. */
@Injectable()
export class InvitationMailer extends MailQueue<QueuedInvitation> {
  constructor(
    @InjectRepository(InvitationMail) private readonly mails: Repository<InvitationMail>,
    private readonly encryption: Encryption,
    private readonly settings: Settings,
    transactions: Transactions,
    server: MailServer,
  ) {
    super(server, transactions, 'send_mails');
  }

  /** Delivery state of a new invitation. */
  get initialDelivery(): EmailDelivery {
    return this.server.isConfigured ? 'queued' : 'disabled';
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
    if (!this.server.isConfigured) return;
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
    this.deliverAfterCommit(transaction);
  }

  /** Removes the queued mail of an invitation that is no longer pending. Requires the invitation's lock. */
  async cancel(invitationId: number, transaction: EntityManager): Promise<void> {
    const { affected } = await transaction.delete(InvitationMail, { invitationId });
    if (affected === 1)
      await transaction.update(Invitation, { id: invitationId }, { emailDelivery: 'failed' });
  }

  /** Number of mails that wait to be sent, on all replicas together. */
  count(): Promise<number> {
    return this.mails.count();
  }

  protected async lease(): Promise<QueuedInvitation | undefined> {
    const [[mail]] = await this.mails.query<[QueuedInvitation[], number]>(
      `UPDATE invitation_mails SET ${LEASE_MAIL}
       WHERE invitation_id = (
         SELECT invitation_id FROM invitation_mails WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
       ) RETURNING invitation_id, sealed_token, attempts`,
    );
    return mail;
  }

  protected async compose(mail: QueuedInvitation): Promise<MailMessage | undefined> {
    const invitation = await findInvitation({ id: mail.invitation_id }, this.mails.manager);
    if (invitation?.response.status !== 'pending') return undefined;
    return invitationMessage(invitation, this.tokenIn(mail), this.settings);
  }

  /**
   * Stores the result of a delivery, unless a new mail replaced this one. A mail that was sent counts even if it was
   * cancelled in the meantime. Locks the invitation before the mail, as all transactions do.
   */
  protected async complete(mail: QueuedInvitation, delivery: 'sent' | 'failed'): Promise<void> {
    const { invitation_id: id, sealed_token: sealedToken } = mail;
    const sentHash = delivery === 'sent' ? tokenHash(this.tokenIn(mail)) : undefined;
    await this.transactions.run(async (transaction) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const { tokenSha256 } = await transaction.findOneOrFail(Invitation, { where: { id }, lock });
      const { affected } = await transaction.delete(InvitationMail, { invitationId: id, sealedToken });
      const isSent = sentHash !== undefined && tokenSha256.equals(sentHash);
      if (affected === 1 || isSent) await transaction.update(Invitation, { id }, { emailDelivery: delivery });
    });
  }

  protected idOf({ invitation_id: invitationId }: QueuedInvitation): Record<string, number> {
    return { invitationId };
  }

  private tokenIn({ invitation_id: id, sealed_token: sealed }: QueuedInvitation): string {
    return this.encryption.decrypt(sealed, encryptionContext(id));
  }
}

interface QueuedInvitation extends LeasedMail {
  readonly invitation_id: number;
  readonly sealed_token: Buffer;
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
