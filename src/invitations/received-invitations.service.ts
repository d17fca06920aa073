import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { tokenHash } from '../common/crypto/secret-token.js';
import { emailKey } from '../common/text/text.js';
import { Transactions } from '../database/transactions/transactions.js';
import { AuditTrail } from '../organizations/audit/audit-trail.js';
import type { MemberResponse } from '../organizations/dto/member.response.js';
import { MembersService } from '../organizations/members.service.js';
import { lockOrganization } from '../organizations/scope/organization-locks.js';
import { OrganizationNotFound } from '../organizations/model/organizations.errors.js';
import { OrganizationsService } from '../organizations/organizations.service.js';
import type {
  AcceptedInvitationResponse,
  InvitationPreviewResponse,
  ReceivedInvitationResponse,
} from './dto/invitation.response.js';
import { InvitationMailer } from './invitation-mailer.js';
import {
  findInvitation,
  lockInvitation,
  INVITATION_COLUMNS,
  IS_PENDING,
  toInvitationResponse,
} from './invitation-rows.js';
import type { InvitationRow, StoredInvitation } from './invitation-rows.js';
import { assertAddressed, assertDeclinable, openOrganizationId } from './invitation-rules.js';
import { Invitation } from './invitation.entity.js';
import { InvitationNotFound, InvitationUsed } from './invitations.errors.js';

/** Token of the link, or id from the list of the caller's invitations. */
export type InvitationReference = { readonly token: string } | { readonly id: number };

/** Pending or accepted invitation of an existing organization. */
type OpenInvitation = InvitationRow & { readonly organizationId: number };

const now = (): string => 'clock_timestamp()';

/** Invitations of the invited users. */
@Injectable()
export class ReceivedInvitationsService {
  constructor(
    @InjectRepository(Invitation) private readonly invitations: Repository<Invitation>,
    private readonly organizations: OrganizationsService,
    private readonly members: MembersService,
    private readonly mailer: InvitationMailer,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** Lists the pending invitations for the caller's address. Empty unless the address is verified. */
  async list({ email, emailVerified }: SessionUser): Promise<ReceivedInvitationResponse[]> {
    if (!emailVerified) return [];
    const invitations = await this.invitations.query<(StoredInvitation & ReceivedInvitationResponse)[]>(
      `SELECT ${INVITATION_COLUMNS}, json_build_object('id', o.id, 'name', o.name) AS organization
       FROM invitations i JOIN organizations o ON o.id = i.organization_id
       WHERE i.email_key = $1 AND ${IS_PENDING} ORDER BY i.id`,
      [emailKey(email)],
    );
    return invitations.map(toInvitationResponse);
  }

  /** Returns the public part of an invitation, for every holder of the link. @throws InvitationNotFound */
  async preview(token: string): Promise<InvitationPreviewResponse> {
    const invitation = await findInvitation({ tokenSha256: tokenHash(token) }, this.invitations.manager);
    if (!invitation) throw new InvitationNotFound();
    const { response, organizationName: name, organizationSlug: slug } = invitation;
    const { role, email, status, expires_at, invited_by } = response;
    return { organization: { name, slug }, role, email, status, expires_at, invited_by };
  }

  /**
   * Makes the caller a member. A repeated call of the same user, while still a member, changes nothing.
   * @throws InvitationNotFound @throws EmailUnverified @throws EmailMismatch (404 by id) @throws InvitationCancelled
   * @throws InvitationExpired @throws InvitationUsed @throws TooManyMembers, checked in this order
   */
  accept(user: SessionUser, reference: InvitationReference): Promise<AcceptedInvitationResponse> {
    return this.transactions.run(async (transaction) => {
      const invitation = await this.lock(user, reference, transaction);
      const member = await this.admit(user, invitation, transaction);
      const organization = await this.organizations.getIn(user, invitation.organizationId, transaction);
      return { organization, member };
    });
  }

  /** Cancels the invitation on behalf of the invited user. @throws as {@link accept} */
  decline(user: SessionUser, reference: InvitationReference): Promise<void> {
    return this.transactions.run(async (transaction) => {
      const { response, organizationId } = await this.lock(user, reference, transaction);
      assertDeclinable(response.status);
      const { id, email, role } = response;
      await transaction.update(Invitation, { id }, { status: 'cancelled', cancelledAt: now });
      await this.mailer.cancel(id, transaction);
      const target = { type: 'invitation', id, email };
      const entry = { organizationId, actor: user, target, details: { role } };
      await this.audit.record({ ...entry, action: 'invitation.declined' }, transaction);
    });
  }

  private async admit(
    user: SessionUser,
    { response, organizationId, acceptedByUserId }: OpenInvitation,
    transaction: EntityManager,
  ): Promise<MemberResponse> {
    const { id, role, status } = response;
    if (status === 'accepted') {
      const member =
        acceptedByUserId === user.id && (await this.members.find(organizationId, user.id, transaction));
      if (!member) throw new InvitationUsed();
      return member;
    }
    const accepted = { status: 'accepted' as const, acceptedAt: now, acceptedByUserId: user.id };
    await transaction.update(Invitation, { id }, accepted);
    await this.mailer.cancel(id, transaction);
    return this.members.admit(organizationId, user, role, transaction);
  }

  /** Locks the organization and then the invitation, and checks that the caller may use the invitation. */
  private async lock(
    user: SessionUser,
    reference: InvitationReference,
    transaction: EntityManager,
  ): Promise<OpenInvitation> {
    const by = 'id' in reference ? reference : { tokenSha256: tokenHash(reference.token) };
    const found = await findInvitation(by, transaction);
    if (!found) throw new InvitationNotFound();
    assertAddressed(user, found, 'id' in reference);
    if (found.organizationId !== null) await lockIfExists(found.organizationId, transaction);
    const invitation = await lockInvitation(by, transaction);
    if (!invitation) throw new InvitationNotFound(); // the token was replaced in the meantime
    const organizationId = openOrganizationId(invitation.response.status, invitation.organizationId);
    return { ...invitation, organizationId };
  }
}

/** Ignores a deleted organization: its deletion cancelled the invitation, which the caller reads next. */
async function lockIfExists(organizationId: number, transaction: EntityManager): Promise<void> {
  try {
    await lockOrganization(organizationId, transaction);
  } catch (error) {
    if (!(error instanceof OrganizationNotFound)) throw error;
  }
}
