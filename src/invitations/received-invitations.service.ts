import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { tokenHash } from '../common/secret-token.js';
import { emailKey } from '../common/text.js';
import { Transactions } from '../database/transactions.js';
import { AuditTrail } from '../organizations/audit-trail.js';
import type { MemberResponse } from '../organizations/dto/member.response.js';
import { MembersService } from '../organizations/members.service.js';
import { lockOrganization } from '../organizations/organization-lock.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import { OrganizationsService } from '../organizations/organizations.service.js';
import type {
  AcceptedInvitationResponse,
  InvitationPreviewResponse,
  ReceivedInvitationResponse,
} from './dto/invitation.response.js';
import { InvitationMailer } from './invitation-mailer.js';
import { findInvitation, INVITATION_COLUMNS, IS_PENDING, shown } from './invitation-rows.js';
import type { InvitationRow, StoredInvitation } from './invitation-rows.js';
import { Invitation } from './invitation.entity.js';
import {
  EmailMismatch,
  EmailUnverified,
  InvitationCancelled,
  InvitationExpired,
  InvitationNotFound,
  InvitationUsed,
} from './invitations.errors.js';

/** How the caller came by the invitation: the link, or the list of its own. */
export type InvitationReference = { readonly token: string } | { readonly id: number };

const now = (): string => 'clock_timestamp()';

/** Invitations as those see them who are invited. */
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

  /** What is pending for the caller's address; nothing as long as that is not verified. */
  async list({ email, emailVerified }: SessionUser): Promise<ReceivedInvitationResponse[]> {
    if (!emailVerified) return [];
    const invitations = await this.invitations.query<(StoredInvitation & ReceivedInvitationResponse)[]>(
      `SELECT ${INVITATION_COLUMNS}, json_build_object('id', o.id, 'name', o.name) AS organization
       FROM invitations i JOIN organizations o ON o.id = i.organization_id
       WHERE i.email_key = $1 AND ${IS_PENDING} ORDER BY i.id`,
      [emailKey(email)],
    );
    return invitations.map(shown);
  }

  /** What the holder of a link may know, whoever that is. @throws InvitationNotFound */
  async preview(token: string): Promise<InvitationPreviewResponse> {
    const invitation = await findInvitation({ tokenSha256: tokenHash(token) }, this.invitations.manager);
    if (!invitation) throw new InvitationNotFound();
    const { response, organizationName: name, organizationSlug: slug } = invitation;
    const { role, email, status, expires_at, invited_by } = response;
    return { organization: { name, slug }, role, email, status, expires_at, invited_by };
  }

  /**
   * Makes the caller a member. Again by the same user, while still a member, it changes nothing.
   * @throws InvitationNotFound @throws EmailUnverified @throws EmailMismatch (404 by id) @throws InvitationCancelled
   * @throws InvitationExpired @throws InvitationUsed, looked for in this order
   */
  accept(user: SessionUser, reference: InvitationReference): Promise<AcceptedInvitationResponse> {
    return this.transactions.run(async (transaction) => {
      const invitation = await this.lock(user, reference, transaction);
      const member = await this.admit(user, invitation, transaction);
      const organization = await this.organizations.getIn(user, invitation.organizationId!, transaction);
      return { organization, member };
    });
  }

  /** Cancels it on the invited one's side. @throws as {@link accept} */
  decline(user: SessionUser, reference: InvitationReference): Promise<void> {
    return this.transactions.run(async (transaction) => {
      const { response, organizationId } = await this.lock(user, reference, transaction);
      if (response.status === 'accepted') throw new InvitationUsed();
      const { id, email, role } = response;
      await transaction.update(Invitation, { id }, { status: 'cancelled', cancelledAt: now });
      await this.mailer.drop(id, transaction);
      const target = { type: 'invitation', id, email };
      const entry = { organizationId: organizationId!, actor: user, target, details: { role } };
      await this.audit.record({ ...entry, action: 'invitation.declined' }, transaction);
    });
  }

  private async admit(
    user: SessionUser,
    { response, organizationId, acceptedByUserId }: InvitationRow,
    transaction: EntityManager,
  ): Promise<MemberResponse> {
    const { id, role, status } = response;
    if (status === 'accepted') {
      const member =
        acceptedByUserId === user.id && (await this.members.find(organizationId!, user.id, transaction));
      if (!member) throw new InvitationUsed();
      return member;
    }
    const accepted = { status: 'accepted' as const, acceptedAt: now, acceptedByUserId: user.id };
    await transaction.update(Invitation, { id }, accepted);
    await this.mailer.drop(id, transaction);
    return this.members.admit(organizationId!, user, role, transaction);
  }

  /** Organization and invitation locked, the invitation pending or accepted and the caller's. */
  private async lock(
    user: SessionUser,
    reference: InvitationReference,
    transaction: EntityManager,
  ): Promise<InvitationRow> {
    const by = 'id' in reference ? reference : { tokenSha256: tokenHash(reference.token) };
    const found = await findInvitation(by, transaction);
    if (!found) throw new InvitationNotFound();
    assertAddressed(user, found, 'id' in reference);
    if (found.organizationId !== null) await lockIfThere(found.organizationId, transaction);
    const invitation = await findInvitation(by, transaction, 'lock');
    if (!invitation) throw new InvitationNotFound(); // a new token was sent meanwhile
    const { status } = invitation.response;
    if (status === 'cancelled') throw new InvitationCancelled();
    if (status === 'expired') throw new InvitationExpired();
    if (invitation.organizationId === null) throw new InvitationUsed(); // and the organization is gone
    return invitation;
  }
}

/** @param hidden an invitation for somebody else is not even told of: its id could be guessed */
function assertAddressed(user: SessionUser, invitation: InvitationRow, hidden: boolean): void {
  const isTheirs = invitation.acceptedByUserId === user.id; // whatever their address is by now
  const addressed = isTheirs || emailKey(user.email) === invitation.emailKey;
  if (hidden && !addressed) throw new InvitationNotFound();
  if (!user.emailVerified) throw new EmailUnverified();
  if (!addressed) throw new EmailMismatch();
}

/** An organization that was deleted meanwhile has cancelled its invitations: the next look tells. */
async function lockIfThere(organizationId: number, transaction: EntityManager): Promise<void> {
  try {
    await lockOrganization(organizationId, transaction);
  } catch (error) {
    if (!(error instanceof OrganizationNotFound)) throw error;
  }
}
