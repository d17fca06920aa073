import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/api/domain-error.js';
import { newToken, tokenHash } from '../common/crypto/secret-token.js';
import { emailKey } from '../common/text/text.js';
import { Settings } from '../config/settings.js';
import { hasMoreThan } from '../database/transactions/caps.js';
import { Transactions } from '../database/transactions/transactions.js';
import { translateViolation } from '../database/transactions/translate-violation.js';
import { AuditTrail } from '../organizations/audit/audit-trail.js';
import type { AuditAction } from '../organizations/audit/audit-event.entity.js';
import { MembersService } from '../organizations/members.service.js';
import { OrganizationDeleting } from '../organizations/membership-events.js';
import { lockOrganizationAsAdmin } from '../organizations/scope/organization-locks.js';
import { slugToInviteTo } from '../organizations/model/organization-rules.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import type { InviteDto } from './dto/invitation.requests.js';
import type { InvitationResponse, CreatedInvitationResponse } from './dto/invitation.response.js';
import { InvitationMailer } from './invitation-mailer.js';
import { joinUrl } from './invitation-message.js';
import { findInvitation, LIST, listValues, lockInvitation, toInvitationResponse } from './invitation-rows.js';
import type { InvitationRow, StoredInvitation } from './invitation-rows.js';
import { assertPending, needsCancellation } from './invitation-rules.js';
import { Invitation } from './invitation.entity.js';
import type { InvitationStatus } from './invitation.entity.js';
import {
  AlreadyMember,
  InvitationPending,
  PENDING_INVITATIONS_MAX,
  TooManyInvitations,
} from './invitations.errors.js';

const VALIDITY = `interval '7 days'`;
/** SQL expression, so that the clock of the database counts. */
const inSevenDays = (): string => `now() + ${VALIDITY}`;
const now = (): string => 'clock_timestamp()';

/** Invitations of an organization, managed by its admins. */
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

  /** Lists all pending invitations and the newest others. @param status limits the list to one current status */
  async list({ organizationId }: OwnerScope, status?: InvitationStatus): Promise<InvitationResponse[]> {
    const values = listValues(organizationId, status);
    const invitations = await this.invitations.query<StoredInvitation[]>(LIST, values);
    return invitations.map(toInvitationResponse);
  }

  /** @throws PersonalOrganization @throws AlreadyMember @throws InvitationPending @throws TooManyInvitations */
  invite(scope: OwnerScope, { email, role }: InviteDto): Promise<CreatedInvitationResponse> {
    const { organizationId, user } = scope;
    const token = newToken();
    return this.transactions.run(async (transaction) => {
      const organization = await lockOrganizationAsAdmin(scope, 'invite members', transaction);
      const slug = slugToInviteTo(organization);
      const key = emailKey(email);
      if (await this.members.hasAddress(organizationId, key, transaction)) throw new AlreadyMember();
      await expireOverdue(organizationId, transaction);
      const values = {
        organizationId,
        organizationName: organization.name,
        organizationSlug: slug,
        email,
        emailKey: key,
        role,
        status: 'pending',
        tokenSha256: tokenHash(token),
        invitedByUserId: user.id,
        invitedByEmail: user.email,
        emailDelivery: this.mailer.initialDelivery,
        expiresAt: inSevenDays,
      };
      const invitation = await insert(values, transaction);
      await assertBelowCap(organizationId, transaction);
      await this.mailer.enqueue(scope, invitation, token, transaction);
      await this.record(scope, 'invitation.created', { id: invitation, email, role }, transaction);
      return this.withToken(invitation, token, transaction);
    });
  }

  /** Leaves a cancelled invitation unchanged. @throws NotFound @throws InvitationNotPending */
  cancel(scope: OwnerScope, id: number): Promise<void> {
    return this.transactions.run(async (transaction) => {
      const { response } = await this.lock(scope, id, 'cancel invitations', transaction);
      if (!needsCancellation(response.status)) return;
      await transaction.update(Invitation, { id }, { status: 'cancelled', cancelledAt: now });
      await this.mailer.cancel(id, transaction);
      await this.record(scope, 'invitation.cancelled', response, transaction);
    });
  }

  /** Replaces the token, which invalidates the old link. @throws NotFound @throws InvitationNotPending */
  resend(scope: OwnerScope, id: number): Promise<CreatedInvitationResponse> {
    const token = newToken();
    return this.transactions.run(async (transaction) => {
      const { response } = await this.lock(scope, id, 'resend invitations', transaction);
      assertPending(response.status);
      const tokenSha256 = tokenHash(token);
      const emailDelivery = this.mailer.initialDelivery;
      await transaction.update(Invitation, { id }, { tokenSha256, emailDelivery, expiresAt: inSevenDays });
      await this.mailer.enqueue(scope, id, token, transaction);
      await this.record(scope, 'invitation.resent', response, transaction);
      return this.withToken(id, token, transaction);
    });
  }

  /** Locks the organization before the invitation, as all transactions do. */
  private async lock(
    scope: OwnerScope,
    id: number,
    what: string,
    transaction: EntityManager,
  ): Promise<InvitationRow> {
    await lockOrganizationAsAdmin(scope, what, transaction);
    const invitation = await lockInvitation({ id }, transaction);
    if (invitation?.organizationId !== scope.organizationId) throw new NotFound();
    return invitation;
  }

  private async withToken(
    id: number,
    token: string,
    transaction: EntityManager,
  ): Promise<CreatedInvitationResponse> {
    const { response } = (await findInvitation({ id }, transaction))!;
    return { ...response, token, join_url: joinUrl(this.settings, token) };
  }

  /** Cancels the pending invitations but keeps all rows, so that the holder of a link gets the status. */
  private async cancelAll(organizationId: number, transaction: EntityManager): Promise<void> {
    await expireOverdue(organizationId, transaction);
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
async function insert(values: Inserted, transaction: EntityManager): Promise<number> {
  const { identifiers } = await transaction
    .insert(Invitation, values)
    .catch((error: unknown) => translateViolation(error, { invitations_pending_key: InvitationPending }));
  return (identifiers[0] as { id: number }).id;
}

/** Counts after the insert. Requires the organization's lock. @throws TooManyInvitations */
async function assertBelowCap(organizationId: number, transaction: EntityManager): Promise<void> {
  const rows = `FROM invitations WHERE organization_id = $1 AND status = 'pending'`;
  if (await hasMoreThan(PENDING_INVITATIONS_MAX, rows, [organizationId], transaction))
    throw new TooManyInvitations();
}

/** Stores the expiry of invitations, so that they do not block a new invitation to the same address. */
async function expireOverdue(organizationId: number, transaction: EntityManager): Promise<void> {
  await transaction.query(
    `UPDATE invitations SET status = 'expired'
     WHERE organization_id = $1 AND status = 'pending' AND expires_at <= clock_timestamp()`,
    [organizationId],
  );
}
