import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { assertWithinCap } from '../database/transactions/caps.js';
import type { Cap } from '../database/transactions/caps.js';
import { advancedUpdatedAt } from '../database/connection/columns.js';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import { Transactions } from '../database/transactions/transactions.js';
import { AuditTrail } from './audit/audit-trail.js';
import type { CreateOrganizationDto, UpdateOrganizationDto } from './dto/organization.requests.js';
import type { OrganizationResponse } from './dto/organization.response.js';
import { OrganizationDeleting } from './membership-events.js';
import { Membership } from './model/membership.entity.js';
import { lockOrganizationAsAdmin, lockOrganizationExclusively } from './scope/organization-locks.js';
import { assertRenamable, slugToRelease } from './model/organization-rules.js';
import { OrganizationSlug } from './model/organization-slug.entity.js';
import { Organization } from './model/organization.entity.js';
import {
  FOUNDED_TEAMS_MAX,
  OrganizationNotFound,
  OrganizationSlugTaken,
  TooManyOrganizations,
} from './model/organizations.errors.js';
import type { OwnerScope } from './scope/owner-scope.js';

const SELECT = `
  SELECT o.id, o.name, o.slug, o.kind, m.role,
    (SELECT count(*)::int FROM memberships c WHERE c.organization_id = o.id) AS member_count,
    o.created_at, o.updated_at
  FROM memberships m JOIN organizations o ON o.id = m.organization_id
  WHERE m.user_id = $1`;
const LIST = { name: 'organizations.list', text: `${SELECT} ORDER BY o.id` };
const GET = { name: 'organizations.get', text: `${SELECT} AND o.id = $2` };

/** Claims a new slug, or one that the same user released. Returns no row if the slug is taken. */
const CLAIM_SLUG = `
  INSERT INTO organization_slugs (slug, in_use) VALUES ($1, true)
  ON CONFLICT (slug) DO UPDATE SET in_use = true, deleted_by = NULL
    WHERE NOT organization_slugs.in_use AND organization_slugs.deleted_by = $2
  RETURNING slug`;

const FOUNDED_TEAMS_CAP: Cap = {
  objects: 'foundedTeams',
  max: FOUNDED_TEAMS_MAX,
  rows: 'FROM organizations WHERE founder_user_id = $1',
  Rejection: TooManyOrganizations,
};

/** Organizations of their members. */
@Injectable()
export class OrganizationsService {
  constructor(
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** Lists the caller's organizations, including the personal one. */
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

  /** Creates a team with the caller as its admin. @throws OrganizationSlugTaken @throws TooManyOrganizations */
  create(user: SessionUser, { name, slug }: CreateOrganizationDto): Promise<OrganizationResponse> {
    return this.transactions.run(async (transaction) => {
      const claimed = await transaction.query<unknown[]>(CLAIM_SLUG, [slug, user.id]);
      if (claimed.length === 0) throw new OrganizationSlugTaken();
      const users = { personalUserId: null, founderUserId: user.id };
      const team = transaction.create(Organization, { kind: 'team', name, slug, ...users });
      await transaction.insert(Organization, team);
      await assertWithinCap(FOUNDED_TEAMS_CAP, user.id, transaction);
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
      const { id, ...before } = await lockOrganizationAsAdmin(scope, 'rename the organization', transaction);
      assertRenamable(before, slug);
      await transaction.update(Organization, { id }, { name, updatedAt: advancedUpdatedAt });
      if (name !== undefined && name !== before.name) {
        const details = { from: before.name, to: name };
        await this.record(id, scope.user, 'organization.renamed', details, transaction);
      }
      return this.getIn(scope.user, id, transaction);
    });
  }

  /**
   * Deletes the organization with everything that it owns, and reserves the slug for the caller.
   * @param confirmation slug that the caller typed; undefined if the client did not ask
   * @returns the number of revoked keys
   * @throws PersonalOrganization @throws SlugMismatch
   */
  delete(scope: OwnerScope, confirmation: string | undefined): Promise<number> {
    return this.transactions.run(async (transaction) => {
      const { id, ...organization } = await lockOrganizationExclusively(
        scope,
        'delete the organization',
        transaction,
      );
      const slug = slugToRelease(organization, confirmation);
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
