import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/api/domain-error.js';
import { isStorableText } from '../common/text/text.js';
import { hasMoreThan } from '../database/transactions/caps.js';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import { Transactions } from '../database/transactions/transactions.js';
import { AuditTrail } from './audit/audit-trail.js';
import type { AuditAction } from './audit/audit-event.entity.js';
import type { MemberResponse } from './dto/member.response.js';
import { MemberLeaving } from './membership-events.js';
import { assertAnotherAdmin, assertLeavable, isPromotion } from './model/membership-rules.js';
import { Membership } from './model/membership.entity.js';
import type { Role } from './model/membership.entity.js';
import { lockOrganizationExclusively } from './scope/organization-locks.js';
import { MEMBERS_MAX, TooManyMembers } from './model/organizations.errors.js';
import type { OwnerScope } from './scope/owner-scope.js';

const SELECT = `
  SELECT m.user_id, u.email, m.role, m.joined_at FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = $1`;
const LIST = { name: 'members.list', text: `${SELECT} ORDER BY m.joined_at, m.user_id` };
const GET = `${SELECT} AND m.user_id = $2`;
const WITH_ADDRESS = `${SELECT} AND u.email_key = $2`;

/** Members of organizations and their roles. Every change locks the organization first. */
@Injectable()
export class MembersService {
  constructor(
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** Lists the members in the order in which they joined. */
  list({ organizationId }: OwnerScope): Promise<MemberResponse[]> {
    return this.queries.rows<MemberResponse>(LIST, [organizationId]);
  }

  /** @throws NotFound @throws LastAdmin */
  changeRole(scope: OwnerScope, userId: string, role: Role): Promise<MemberResponse> {
    const { organizationId, user } = scope;
    return this.transactions.run(async (transaction) => {
      await lockOrganizationExclusively(scope, 'change roles', transaction);
      const member = await this.get(organizationId, userId, transaction);
      if (member.role === role) return member;
      if (member.role === 'admin') await assertNotLastAdmin(organizationId, userId, transaction);
      return this.setRole(organizationId, user, member, role, transaction);
    });
  }

  /**
   * Ends a membership and revokes the member's keys of the organization.
   * @returns the number of revoked keys
   * @throws AdminsOnly if a member removes somebody else
   * @throws NotFound @throws PersonalOrganization @throws LastAdmin
   */
  remove(scope: OwnerScope, userId: string): Promise<number> {
    const { organizationId, user } = scope;
    const own = userId === user.id;
    return this.transactions.run(async (transaction) => {
      const organization = await lockOrganizationExclusively(
        scope,
        own ? undefined : 'remove members',
        transaction,
      );
      const member = await this.get(organizationId, userId, transaction);
      assertLeavable(organization);
      if (member.role === 'admin') await assertNotLastAdmin(organizationId, userId, transaction);
      const event = new MemberLeaving(organizationId, userId, own ? 'left' : 'removed');
      await this.transactions.emit(event, transaction);
      await transaction.delete(Membership, { organizationId, userId });
      const details = { revoked_keys: event.revokedKeys };
      await this.record(
        organizationId,
        user,
        own ? 'member.left' : 'member.removed',
        member,
        details,
        transaction,
      );
      return event.revokedKeys;
    });
  }

  /**
   * Adds a member, or promotes an existing one. Requires the organization's lock.
   * @returns the member after the change
   * @throws TooManyMembers
   */
  async admit(
    organizationId: number,
    user: SessionUser,
    role: Role,
    transaction: EntityManager,
  ): Promise<MemberResponse> {
    const member = await this.find(organizationId, user.id, transaction);
    if (!member) {
      await transaction.insert(Membership, { organizationId, userId: user.id, role });
      const rows = 'FROM memberships WHERE organization_id = $1';
      if (await hasMoreThan(MEMBERS_MAX, rows, [organizationId], transaction)) throw new TooManyMembers();
      const joined = await this.get(organizationId, user.id, transaction);
      await this.record(organizationId, user, 'member.joined', joined, { role }, transaction);
      return joined;
    }
    if (!isPromotion(member.role, role)) return member;
    return this.setRole(organizationId, user, member, role, transaction);
  }

  /** Stores and records a new role. */
  private async setRole(
    organizationId: number,
    actor: SessionUser,
    member: MemberResponse,
    role: Role,
    transaction: EntityManager,
  ): Promise<MemberResponse> {
    await transaction.update(Membership, { organizationId, userId: member.user_id }, { role });
    const details = { from: member.role, to: role };
    await this.record(organizationId, actor, 'member.role_changed', member, details, transaction);
    return { ...member, role };
  }

  /** Finds a member by user id. */
  async find(
    organizationId: number,
    userId: string,
    transaction: EntityManager,
  ): Promise<MemberResponse | undefined> {
    if (!isStorableText(userId)) return undefined; // the path can contain any characters
    const [member] = await transaction.query<MemberResponse[]>(GET, [organizationId, userId]);
    return member;
  }

  /** Whether a member has this e-mail address. @param key see {@link emailKey} */
  async hasAddress(organizationId: number, key: string, transaction: EntityManager): Promise<boolean> {
    return (await transaction.query<unknown[]>(WITH_ADDRESS, [organizationId, key])).length > 0;
  }

  /** @throws NotFound */
  private async get(
    organizationId: number,
    userId: string,
    transaction: EntityManager,
  ): Promise<MemberResponse> {
    const member = await this.find(organizationId, userId, transaction);
    if (!member) throw new NotFound();
    return member;
  }

  private record(
    organizationId: number,
    actor: SessionUser,
    action: AuditAction,
    { user_id, email }: MemberResponse,
    details: Record<string, string | number>,
    transaction: EntityManager,
  ): Promise<void> {
    const target = { type: 'member', user_id, email };
    return this.audit.record({ organizationId, actor, action, target, details }, transaction);
  }
}

async function assertNotLastAdmin(
  organizationId: number,
  userId: string,
  transaction: EntityManager,
): Promise<void> {
  const admins = await transaction.findBy(Membership, { organizationId, role: 'admin' });
  assertAnotherAdmin(
    admins.map((admin) => admin.userId),
    userId,
  );
}
