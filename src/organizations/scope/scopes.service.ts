import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager } from 'typeorm';
import { Repository } from 'typeorm';
import type { SessionUser } from '../../auth/session-user.js';
import { UserCreated } from '../../auth/users.service.js';
import { PreparedQueries } from '../../database/connection/prepared-queries.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Membership } from '../model/membership.entity.js';
import type { Role } from '../model/membership.entity.js';
import { Organization } from '../model/organization.entity.js';
import { OrganizationNotFound } from '../model/organizations.errors.js';
import type { OwnerScope } from './owner-scope.js';

const ROLE = {
  name: 'memberships.role',
  text: 'SELECT role FROM memberships WHERE organization_id = $1 AND user_id = $2',
};

/** Finds the scopes that a user may act in. Creates the personal organization of every new user. */
@Injectable()
export class ScopesService implements OnModuleInit {
  /** Never stale: a user keeps the personal organization. Entries live as long as the cached user of a session. */
  private readonly personalScopes = new WeakMap<SessionUser, OwnerScope>();

  constructor(
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
  ) {}

  onModuleInit(): void {
    this.transactions.on(UserCreated, ({ user }, transaction) => this.createPersonal(user, transaction));
  }

  /** @throws OrganizationNotFound if there is no such organization or the user is not a member */
  async findScope(user: SessionUser, organizationId: number): Promise<OwnerScope> {
    const [membership] = await this.queries.rows<{ role: Role }>(ROLE, [organizationId, user.id]);
    if (!membership) throw new OrganizationNotFound();
    return { organizationId, role: membership.role, user };
  }

  async findPersonalScope(user: SessionUser): Promise<OwnerScope> {
    const known = this.personalScopes.get(user);
    if (known) return known;
    const { id } = await this.organizations.findOneByOrFail({ personalUserId: user.id });
    const scope: OwnerScope = { organizationId: id, role: 'admin', user };
    this.personalScopes.set(user, scope);
    return scope;
  }

  /** Scope of an organization, or of the personal one without an id. @throws OrganizationNotFound */
  findScopeOrPersonal(user: SessionUser, organizationId?: number): Promise<OwnerScope> {
    return organizationId === undefined ? this.findPersonalScope(user) : this.findScope(user, organizationId);
  }

  private async createPersonal({ id: userId }: SessionUser, transaction: EntityManager): Promise<void> {
    const organization = await transaction.save(
      transaction.create(Organization, {
        kind: 'personal',
        name: 'Personal',
        slug: null,
        personalUserId: userId,
        founderUserId: null,
      }),
    );
    await transaction.insert(Membership, { organizationId: organization.id, userId, role: 'admin' });
  }
}
