import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/domain-error.js';
import { isStorableText } from '../common/text.js';
import { PreparedQueries } from '../database/prepared.js';
import { Transactions } from '../database/transactions.js';
import { AuditTrail } from './audit-trail.js';
import type { AuditAction } from './audit-trail.js';
import type { MemberResponse } from './dto/member.response.js';
import { MemberLeaving } from './membership-events.js';
import { Membership } from './membership.entity.js';
import type { Role } from './membership.entity.js';
import { lockAs } from './organization-lock.js';
import { LastAdmin, PersonalOrganization } from './organizations.errors.js';
import type { OwnerScope } from './owner-scope.js';

const SELECT = `
  SELECT m.user_id, u.email, m.role, m.joined_at FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = $1`;
const LIST = { name: 'members.list', text: `${SELECT} ORDER BY m.joined_at, m.user_id` };
const GET = `${SELECT} AND m.user_id = $2`;
const WITH_ADDRESS = `${SELECT} AND u.email_key = $2`;

/** Who is in an organization and what they may. All changes lock the organization first. */
@Injectable()
export class MembersService {
  constructor(
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** In the order they joined. */
  list({ organizationId }: OwnerScope): Promise<MemberResponse[]> {
    return this.queries.rows<MemberResponse>(LIST, [organizationId]);
  }

  /** @throws NotFound @throws LastAdmin */
  changeRole(scope: OwnerScope, userId: string, role: Role): Promise<MemberResponse> {
    const { organizationId, user } = scope;
    return this.transactions.run(async (transaction) => {
      await lockAs(scope, 'change roles', transaction);
      const member = await this.get(organizationId, userId, transaction);
      if (member.role === role) return member;
      if (member.role === 'admin') await assertAnotherAdmin(organizationId, userId, transaction);
      await transaction.update(Membership, { organizationId, userId }, { role });
      await this.record(
        organizationId,
        user,
        'member.role_changed',
        member,
        { from: member.role, to: role },
        transaction,
      );
      return { ...member, role };
    });
  }

  /**
   * Ends a membership, and with it the member's keys for the organization.
   * @returns how many keys that revoked
   * @throws AdminsOnly when somebody else's is ended by a member
   * @throws NotFound @throws PersonalOrganization @throws LastAdmin
   */
  remove(scope: OwnerScope, userId: string): Promise<number> {
    const { organizationId, user } = scope;
    const own = userId === user.id;
    return this.transactions.run(async (transaction) => {
      const organization = await lockAs(scope, own ? undefined : 'remove members', transaction);
      const member = await this.get(organizationId, userId, transaction);
      if (organization.kind === 'personal') throw new PersonalOrganization('left');
      if (member.role === 'admin') await assertAnotherAdmin(organizationId, userId, transaction);
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
   * Lets somebody in, or gives a member the higher of two roles. For the holder of the organization's lock.
   * @returns the member as it is now
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
      const joined = await this.get(organizationId, user.id, transaction);
      await this.record(organizationId, user, 'member.joined', joined, { role }, transaction);
      return joined;
    }
    if (member.role === 'admin' || role === 'member') return member;
    await transaction.update(Membership, { organizationId, userId: user.id }, { role });
    await this.record(
      organizationId,
      user,
      'member.role_changed',
      member,
      { from: member.role, to: role },
      transaction,
    );
    return { ...member, role };
  }

  /** The member, if the user is one. */
  async find(
    organizationId: number,
    userId: string,
    transaction: EntityManager,
  ): Promise<MemberResponse | undefined> {
    if (!isStorableText(userId)) return undefined; // from a path, where it may be anything
    const [member] = await transaction.query<MemberResponse[]>(GET, [organizationId, userId]);
    return member;
  }

  /** Whether somebody with this address is a member. @param key see {@link emailKey} */
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

async function assertAnotherAdmin(
  organizationId: number,
  userId: string,
  transaction: EntityManager,
): Promise<void> {
  const admins = await transaction.findBy(Membership, { organizationId, role: 'admin' });
  if (!admins.some((admin) => admin.userId !== userId)) throw new LastAdmin();
}
