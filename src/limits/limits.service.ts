import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Invalidations } from '../database/invalidation/invalidations.js';
import { Transactions } from '../database/transactions/transactions.js';
import type { AuditTarget } from '../organizations/audit/audit-event.entity.js';
import { AuditTrail } from '../organizations/audit/audit-trail.js';
import { MembersService } from '../organizations/members.service.js';
import { lockOrganizationAsAdmin } from '../organizations/scope/organization-locks.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { NotFound } from '../common/api/domain-error.js';
import { assertRole } from '../organizations/model/membership-rules.js';
import { scopeOf } from './rules/applied-limits.js';
import type { Level } from './rules/applied-limits.js';
import type { LimitsResponse, OrganizationLimitsResponse } from './dto/limits.dto.js';
import { limitsAnything, NO_LIMITS } from './rules/limit-set.js';
import type { LimitSet } from './rules/limit-set.js';
import { LimitStatus } from './limit-status.js';

/** Topic of the invalidations that remove keys with changed limits from the caches of all replicas. */
export const LIMITS_CHANGED = 'limits-changed';

/** Limit sets of an organization. */
export interface OrganizationLimits {
  readonly organization: LimitSet;
  readonly member: LimitSet;
}

const GET = 'SELECT organization, member FROM organization_limits WHERE organization_id = $1';
const PUT = `
  INSERT INTO organization_limits (organization_id, organization, member) VALUES ($1, $2, $3)
  ON CONFLICT (organization_id) DO UPDATE SET organization = excluded.organization, member = excluded.member`;

/** Limits of organizations and of their members. */
@Injectable()
export class LimitsService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly invalidations: Invalidations,
    private readonly audit: AuditTrail,
    private readonly members: MembersService,
    private readonly status: LimitStatus,
  ) {}

  async get({ organizationId }: OwnerScope): Promise<OrganizationLimitsResponse> {
    const limits = await read(organizationId, this.dataSource.manager);
    return this.withStatus(organizationId, limits);
  }

  /** Replaces both sets. @throws OrganizationNotFound @throws AdminsOnly */
  async replace(scope: OwnerScope, limits: OrganizationLimits): Promise<OrganizationLimitsResponse> {
    const { organizationId } = scope;
    await this.transactions.run(async (transaction) => {
      const { name } = await lockOrganizationAsAdmin(scope, 'change limits', transaction);
      const before = await read(organizationId, transaction);
      const { organization, member } = limits;
      await transaction.query(PUT, [organizationId, toColumn(organization), toColumn(member)]);
      const target = { type: 'organization', id: organizationId, name };
      for (const level of changedLevels(before, limits))
        await this.recordChange(scope, level, target, [before[level], limits[level]], transaction);
      await this.invalidations.publish({ topic: LIMITS_CHANGED, organizationId }, transaction);
    });
    return this.withStatus(organizationId, limits);
  }

  /** Limits of every member with the consumption of one. @throws AdminsOnly @throws NotFound */
  async getOfMember({ organizationId, role, user }: OwnerScope, userId: string): Promise<LimitsResponse> {
    if (userId !== user.id) assertRole(role, 'read the limits of other members');
    if (!(await this.members.find(organizationId, userId, this.dataSource.manager))) throw new NotFound();
    const { member: limits } = await read(organizationId, this.dataSource.manager);
    const scope = scopeOf('member', { id: 0, organizationId, userId });
    return { limits, status: await this.status.read(scope, limits) };
  }

  /** Records new limits in the audit trail. */
  async recordChange(
    { organizationId, user }: Pick<OwnerScope, 'organizationId' | 'user'>,
    level: Level,
    target: AuditTarget,
    [from, to]: readonly [LimitSet, LimitSet],
    transaction: EntityManager,
  ): Promise<void> {
    const details = { level, from, to };
    const entry = { organizationId, actor: user, action: 'limits.changed', target, details } as const;
    await this.audit.record(entry, transaction);
  }

  private async withStatus(
    organizationId: number,
    limits: OrganizationLimits,
  ): Promise<OrganizationLimitsResponse> {
    const scope = scopeOf('organization', { id: 0, organizationId, userId: '' });
    return { ...limits, status: await this.status.read(scope, limits.organization) };
  }
}

async function read(organizationId: number, manager: EntityManager): Promise<OrganizationLimits> {
  const [row] = await manager.query<Record<keyof OrganizationLimits, LimitSet | null>[]>(GET, [
    organizationId,
  ]);
  return { organization: row?.organization ?? NO_LIMITS, member: row?.member ?? NO_LIMITS };
}

/** Value of a column for a limit set: null if nothing is limited. */
function toColumn(limits: LimitSet): string | null {
  return limitsAnything(limits) ? JSON.stringify(limits) : null;
}

/** Every change leaves an event. If nothing changes, the event is about the organization. */
function changedLevels(
  before: OrganizationLimits,
  after: OrganizationLimits,
): readonly (keyof OrganizationLimits)[] {
  const changed = (['organization', 'member'] as const).filter(
    (level) => !isDeepStrictEqual(before[level], after[level]),
  );
  return changed.length > 0 ? changed : ['organization'];
}
