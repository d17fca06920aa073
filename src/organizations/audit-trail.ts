import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { toPage } from '../common/paging.js';
import type { Paged, PageRequest } from '../common/paging.js';
import { AuditEvent } from './audit-event.entity.js';
import type { AuditDetails, AuditTarget } from './audit-event.entity.js';
import type { OwnerScope } from './owner-scope.js';

/** Everything that ends up in the trail. */
export const AUDIT_ACTIONS = [
  ...(['organization.created', 'organization.renamed'] as const),
  ...(['member.joined', 'member.removed', 'member.left', 'member.role_changed'] as const),
  ...(['invitation.created', 'invitation.resent', 'invitation.cancelled', 'invitation.declined'] as const),
  ...(['key.minted', 'key.renamed', 'key.revoked'] as const),
  ...(['upstream.created', 'upstream.updated', 'upstream.deleted'] as const),
];
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** One entry. */
export interface AuditEntry {
  readonly organizationId: number;
  readonly actor: Pick<SessionUser, 'id' | 'email'> | null;
  readonly action: AuditAction;
  readonly target: AuditTarget;
  readonly details?: AuditDetails;
}

/** Who did what to whom, written in the transaction of the deed: what did not happen leaves no trace. */
@Injectable()
export class AuditTrail {
  constructor(@InjectRepository(AuditEvent) private readonly events: Repository<AuditEvent>) {}

  async record(entry: AuditEntry, transaction: EntityManager): Promise<void> {
    const { organizationId, actor, action, target, details = {} } = entry;
    const by = { actorUserId: actor?.id ?? null, actorEmail: actor?.email ?? null };
    // Not when the transaction began: it may have waited for the one before.
    const at = () => 'clock_timestamp()';
    await transaction.insert(AuditEvent, { organizationId, at, action, target, details, ...by });
  }

  /** Newest first. */
  async page({ organizationId }: OwnerScope, { limit, before }: PageRequest): Promise<Paged<AuditEvent>> {
    const rows = await this.events.find({
      where: { organizationId, ...(before === undefined ? {} : { id: LessThan(before) }) },
      order: { id: 'DESC' },
      take: limit + 1,
    });
    return toPage(rows, limit);
  }
}
