import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/domain-error.js';
import { newToken, tokenHash } from '../common/secret-token.js';
import { emailKey } from '../common/text.js';
import { Settings } from '../config/settings.js';
import { violatesUnique } from '../database/sql-states.js';
import { Transactions } from '../database/transactions.js';
import { AuditTrail } from '../organizations/audit-trail.js';
import type { AuditAction } from '../organizations/audit-trail.js';
import { MembersService } from '../organizations/members.service.js';
import { OrganizationDeleting } from '../organizations/membership-events.js';
import { lockAs } from '../organizations/organization-lock.js';
import { PersonalOrganization } from '../organizations/organizations.errors.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import type { InviteDto } from './dto/invitation.requests.js';
import type { InvitationResponse, NewInvitationResponse } from './dto/invitation.response.js';
import { InvitationMailer } from './invitation-mailer.js';
import { findInvitation, INVITATION_COLUMNS, shown } from './invitation-rows.js';
import type { InvitationRow, StoredInvitation } from './invitation-rows.js';
import { Invitation } from './invitation.entity.js';
import type { InvitationStatus } from './invitation.entity.js';
import { joinUrl } from './join-url.js';
import { AlreadyMember, InvitationNotPending, InvitationPending } from './invitations.errors.js';

const VALIDITY = `interval '7 days'`;
/** In SQL, by the database's clock. */
const inSevenDays = (): string => `now() + ${VALIDITY}`;
const now = (): string => 'clock_timestamp()';

/** Invitations as the admins of an organization see them. */
@Injectable()
export class InvitationsService implements OnModuleInit {
  constructor(
    @InjectRepository(Invitation) private readonly invitations: Repository<Invitation>,
    private readonly members: MembersService,
    private readonly mailer: InvitationMailer,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.transactions.on(OrganizationDeleting, ({ organizationId }, transaction) =>
      this.cancelAll(organizationId, transaction),
    );
  }

  /** @param status only those that have it at this moment */
  async list({ organizationId }: OwnerScope, status?: InvitationStatus): Promise<InvitationResponse[]> {
    const invitations = await this.invitations.query<StoredInvitation[]>(
      `SELECT * FROM (SELECT ${INVITATION_COLUMNS} FROM invitations i WHERE i.organization_id = $1) AS invitation
       WHERE $2::text IS NULL OR status = $2 ORDER BY id`,
      [organizationId, status ?? null],
    );
    return invitations.map(shown);
  }

  /** @throws PersonalOrganization @throws AlreadyMember @throws InvitationPending */
  invite(scope: OwnerScope, { email, role }: InviteDto): Promise<NewInvitationResponse> {
    const { organizationId, user } = scope;
    const token = newToken();
    return this.transactions.run(async (transaction) => {
      const { kind, name, slug } = await lockAs(scope, 'invite members', transaction);
      if (kind === 'personal' || slug === null) throw new PersonalOrganization('invited to');
      const key = emailKey(email);
      if (await this.members.hasAddress(organizationId, key, transaction)) throw new AlreadyMember();
      await expireOverdue(transaction, organizationId);
      const invitation = await insert(transaction, {
        ...{ organizationId, organizationName: name, organizationSlug: slug },
        ...{ email, emailKey: key, role, status: 'pending', tokenSha256: tokenHash(token) },
        ...{ invitedByUserId: user.id, invitedByEmail: user.email },
        ...{ emailDelivery: this.mailer.initialDelivery, expiresAt: inSevenDays },
      });
      await this.mailer.enqueue(invitation, token, transaction);
      await this.record(scope, 'invitation.created', { id: invitation, email, role }, transaction);
      return this.withToken(invitation, token, transaction);
    });
  }

  /** Nothing happens to one that is cancelled already. @throws NotFound @throws InvitationNotPending */
  cancel(scope: OwnerScope, id: number): Promise<void> {
    return this.transactions.run(async (transaction) => {
      const { response } = await this.lock(scope, id, 'cancel invitations', transaction);
      if (response.status === 'cancelled') return;
      if (response.status !== 'pending') throw new InvitationNotPending();
      await transaction.update(Invitation, { id }, { status: 'cancelled', cancelledAt: now });
      await this.mailer.drop(id, transaction);
      await this.record(scope, 'invitation.cancelled', response, transaction);
    });
  }

  /** Replaces the token: the old link is dead. @throws NotFound @throws InvitationNotPending */
  resend(scope: OwnerScope, id: number): Promise<NewInvitationResponse> {
    const token = newToken();
    return this.transactions.run(async (transaction) => {
      const { response } = await this.lock(scope, id, 'resend invitations', transaction);
      if (response.status !== 'pending') throw new InvitationNotPending();
      const tokenSha256 = tokenHash(token);
      const emailDelivery = this.mailer.initialDelivery;
      await transaction.update(Invitation, { id }, { tokenSha256, emailDelivery, expiresAt: inSevenDays });
      await this.mailer.enqueue(id, token, transaction);
      await this.record(scope, 'invitation.resent', response, transaction);
      return this.withToken(id, token, transaction);
    });
  }

  /** Organization first, invitation second: the order that everybody keeps. */
  private async lock(
    scope: OwnerScope,
    id: number,
    what: string,
    transaction: EntityManager,
  ): Promise<InvitationRow> {
    await lockAs(scope, what, transaction);
    const invitation = await findInvitation({ id }, transaction, 'lock');
    if (invitation?.organizationId !== scope.organizationId) throw new NotFound();
    return invitation;
  }

  private async withToken(
    id: number,
    token: string,
    transaction: EntityManager,
  ): Promise<NewInvitationResponse> {
    const { response } = (await findInvitation({ id }, transaction))!;
    return { ...response, token, join_url: joinUrl(this.settings, token) };
  }

  /** Keeps them, so that the holder of a link is told what became of it. */
  private async cancelAll(organizationId: number, transaction: EntityManager): Promise<void> {
    await expireOverdue(transaction, organizationId);
    await transaction.query(
      `UPDATE invitations i SET organization_name = o.name, organization_slug = o.slug
       FROM organizations o WHERE o.id = i.organization_id AND o.id = $1`,
      [organizationId],
    );
    await transaction.query(
      `DELETE FROM invitation_mails WHERE invitation_id IN (SELECT id FROM invitations WHERE organization_id = $1)`,
      [organizationId],
    );
    const pending = { organizationId, status: 'pending' as const };
    await transaction.update(Invitation, pending, { status: 'cancelled', cancelledAt: now });
  }

  private record(
    { organizationId, user: actor }: OwnerScope,
    action: AuditAction,
    { id, email, role }: Pick<InvitationResponse, 'id' | 'email' | 'role'>,
    transaction: EntityManager,
  ): Promise<void> {
    const target = { type: 'invitation', id, email };
    return this.audit.record({ organizationId, actor, action, target, details: { role } }, transaction);
  }
}

type Inserted = Parameters<EntityManager['insert']>[1];

/** @throws InvitationPending */
async function insert(transaction: EntityManager, values: Inserted): Promise<number> {
  try {
    const { identifiers } = await transaction.insert(Invitation, values);
    return (identifiers[0] as { id: number }).id;
  } catch (error) {
    if (violatesUnique(error, 'invitations_pending_key')) throw new InvitationPending();
    throw error;
  }
}

/** Writes down what has come to pass, so that it does not stand in the way of something new. */
async function expireOverdue(transaction: EntityManager, organizationId: number): Promise<void> {
  await transaction.query(
    `UPDATE invitations SET status = 'expired'
     WHERE organization_id = $1 AND status = 'pending' AND expires_at <= clock_timestamp()`,
    [organizationId],
  );
}
