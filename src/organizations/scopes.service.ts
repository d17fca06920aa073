import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager } from 'typeorm';
import { Repository } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { UserCreated } from '../auth/users.service.js';
import { PreparedQueries } from '../database/prepared.js';
import { Transactions } from '../database/transactions.js';
import { Membership } from './membership.entity.js';
import type { Role } from './membership.entity.js';
import { Organization } from './organization.entity.js';
import { OrganizationNotFound } from './organizations.errors.js';
import type { OwnerScope } from './owner-scope.js';

const ROLE = {
  name: 'memberships.role',
  text: 'SELECT role FROM memberships WHERE organization_id = $1 AND user_id = $2',
};

/** Finds out on whose behalf a user may act; makes the personal organization that every user has from the start. */
@Injectable()
export class ScopesService implements OnModuleInit {
  /** A user keeps its personal organization for life; a session's user object lives as long as it is cached. */
  private readonly personalScopes = new WeakMap<SessionUser, OwnerScope>();

  constructor(
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
  ) {}

  onModuleInit(): void {
    this.transactions.on(UserCreated, ({ user }, transaction) => this.createPersonal(user, transaction));
  }

  /** @throws OrganizationNotFound for strangers and for organizations that do not exist alike */
  async scope(user: SessionUser, organizationId: number): Promise<OwnerScope> {
    const [membership] = await this.queries.rows<{ role: Role }>(ROLE, [organizationId, user.id]);
    if (!membership) throw new OrganizationNotFound();
    return { organizationId, role: membership.role, user };
  }

  async personalScope(user: SessionUser): Promise<OwnerScope> {
    const known = this.personalScopes.get(user);
    if (known) return known;
    const { id } = await this.organizations.findOneByOrFail({ personalUserId: user.id });
    const scope: OwnerScope = { organizationId: id, role: 'admin', user };
    this.personalScopes.set(user, scope);
    return scope;
  }

  private async createPersonal({ id: userId }: SessionUser, transaction: EntityManager): Promise<void> {
    const organization = await transaction.save(
      transaction.create(Organization, {
        kind: 'personal',
        name: 'Personal',
        slug: null,
        personalUserId: userId,
      }),
    );
    await transaction.insert(Membership, { organizationId: organization.id, userId, role: 'admin' });
  }
}
