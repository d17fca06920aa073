import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { advancedUpdatedAt } from '../database/change.js';
import { PreparedQueries } from '../database/prepared.js';
import { Transactions } from '../database/transactions.js';
import { AuditTrail } from './audit-trail.js';
import type { CreateOrganizationDto, UpdateOrganizationDto } from './dto/organization.requests.js';
import type { OrganizationResponse } from './dto/organization.response.js';
import { OrganizationDeleting } from './membership-events.js';
import { Membership } from './membership.entity.js';
import { lockAs } from './organization-lock.js';
import { OrganizationSlug } from './organization-slug.entity.js';
import { Organization } from './organization.entity.js';
import {
  OrganizationNotFound,
  OrganizationSlugTaken,
  PersonalOrganization,
  SlugCannotChange,
  SlugMismatch,
} from './organizations.errors.js';
import type { OwnerScope } from './owner-scope.js';

const SELECT = `
  SELECT o.id, o.name, o.slug, o.kind, m.role,
    (SELECT count(*)::int FROM memberships c WHERE c.organization_id = o.id) AS member_count,
    o.created_at, o.updated_at
  FROM memberships m JOIN organizations o ON o.id = m.organization_id
  WHERE m.user_id = $1`;
const LIST = { name: 'organizations.list', text: `${SELECT} ORDER BY o.id` };
const GET = { name: 'organizations.get', text: `${SELECT} AND o.id = $2` };

/** Takes a slug that is new, or one that the same admin set free. No row: it is somebody else's. */
const CLAIM_SLUG = `
  INSERT INTO organization_slugs (slug, in_use) VALUES ($1, true)
  ON CONFLICT (slug) DO UPDATE SET in_use = true, deleted_by = NULL
    WHERE NOT organization_slugs.in_use AND organization_slugs.deleted_by = $2
  RETURNING slug`;

/** Organizations as their members see them. */
@Injectable()
export class OrganizationsService {
  constructor(
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** The caller's, the personal one included. */
  list(user: SessionUser): Promise<OrganizationResponse[]> {
    return this.queries.rows<OrganizationResponse>(LIST, [user.id]);
  }

  /** @throws OrganizationNotFound */
  async get(user: SessionUser, id: number): Promise<OrganizationResponse> {
    const [organization] = await this.queries.rows<OrganizationResponse>(GET, [user.id, id]);
    if (!organization) throw new OrganizationNotFound();
    return organization;
  }

  /** {@link get} in the caller's transaction. @throws OrganizationNotFound */
  async getIn(user: SessionUser, id: number, transaction: EntityManager): Promise<OrganizationResponse> {
    const [organization] = await transaction.query<OrganizationResponse[]>(GET.text, [user.id, id]);
    if (!organization) throw new OrganizationNotFound();
    return organization;
  }

  /** Makes a team with the caller as its admin. @throws OrganizationSlugTaken */
  create(user: SessionUser, { name, slug }: CreateOrganizationDto): Promise<OrganizationResponse> {
    return this.transactions.run(async (transaction) => {
      const claimed = await transaction.query<unknown[]>(CLAIM_SLUG, [slug, user.id]);
      if (claimed.length === 0) throw new OrganizationSlugTaken();
      const team = transaction.create(Organization, { kind: 'team', name, slug, personalUserId: null });
      await transaction.insert(Organization, team);
      await transaction.insert(Membership, { organizationId: team.id, userId: user.id, role: 'admin' });
      await this.record(team.id, user, 'organization.created', { name, slug }, transaction);
      return this.getIn(user, team.id, transaction);
    });
  }

  /**
   * @throws SlugCannotChange
   * @throws PersonalOrganization
   */
  rename(scope: OwnerScope, { name, slug }: UpdateOrganizationDto): Promise<OrganizationResponse> {
    return this.transactions.run(async (transaction) => {
      const { id, kind, ...before } = await lockAs(scope, 'rename the organization', transaction);
      if (slug !== undefined && slug !== before.slug) throw new SlugCannotChange();
      if (kind === 'personal') throw new PersonalOrganization('renamed');
      await transaction.update(Organization, { id }, { name, updatedAt: advancedUpdatedAt });
      if (name !== undefined && name !== before.name) {
        const details = { from: before.name, to: name };
        await this.record(id, scope.user, 'organization.renamed', details, transaction);
      }
      return this.getIn(scope.user, id, transaction);
    });
  }

  /**
   * Deletes the organization with all that is its own, and keeps the slug from everybody but the caller.
   * @param confirmation what the caller typed as the slug, where it was asked
   * @returns how many keys that revoked
   * @throws PersonalOrganization @throws SlugMismatch
   */
  delete(scope: OwnerScope, confirmation: string | undefined): Promise<number> {
    return this.transactions.run(async (transaction) => {
      const { id, kind, slug } = await lockAs(scope, 'delete the organization', transaction);
      if (kind === 'personal' || slug === null) throw new PersonalOrganization('deleted');
      if (confirmation !== undefined && confirmation !== slug) throw new SlugMismatch();
      const event = new OrganizationDeleting(id);
      await this.transactions.emit(event, transaction);
      await transaction.delete(Organization, { id });
      await transaction.update(OrganizationSlug, { slug }, { inUse: false, deletedBy: scope.user.id });
      return event.revokedKeys;
    });
  }

  private record(
    organizationId: number,
    actor: SessionUser,
    action: 'organization.created' | 'organization.renamed',
    details: Record<string, string>,
    transaction: EntityManager,
  ): Promise<void> {
    const target = { type: 'organization', id: organizationId };
    return this.audit.record({ organizationId, actor, action, target, details }, transaction);
  }
}
