import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../../auth/session-user.js';
import { jsonBytes } from '../../common/api/paging.js';
import { toCursor, toPage } from '../../common/api/paging.js';
import type { Paged, PageRequest } from '../../common/api/paging.js';
import { ID_MAX } from '../../common/api/path-id.js';
import { pageStatement } from '../../database/connection/page-statement.js';
import type { PageRow } from '../../database/connection/page-statement.js';
import { AuditEvent } from './audit-event.entity.js';
import type { AuditAction, AuditDetails, AuditTarget } from './audit-event.entity.js';
import type { AuditEventResponse } from './audit.response.js';
import type { OwnerScope } from '../scope/owner-scope.js';

const ACTOR = `CASE WHEN actor_user_id IS NOT NULL AND actor_email IS NOT NULL
  THEN json_build_object('user_id', actor_user_id, 'email', actor_email) END`;
const PAGE = {
  columns: ['id', 'at', 'actor', 'action', 'target', 'details'],
  rows: `SELECT id, at, ${ACTOR} AS actor, action, target, details FROM audit_events
    WHERE organization_id = $1 AND id < $2`,
  order: 'id DESC',
};

/** New entry of the audit trail. */
export interface AuditEntry {
  readonly organizationId: number;
  readonly actor: Pick<SessionUser, 'id' | 'email'> | null;
  readonly action: AuditAction;
  readonly target: AuditTarget;
  readonly details?: AuditDetails;
}

/** Records actions in the transaction that performs them, so that a rollback removes the entry, too. */
@Injectable()
export class AuditTrail {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async record(entry: AuditEntry, transaction: EntityManager): Promise<void> {
    const { organizationId, actor, action, target, details = {} } = entry;
    const by = { actorUserId: actor?.id ?? null, actorEmail: actor?.email ?? null };
    // `now()` is the start of the transaction, which may have waited for a lock since then.
    const at = () => 'clock_timestamp()';
    await transaction.insert(AuditEvent, { organizationId, at, action, target, details, ...by });
  }

  /** Newest first. */
  async page(
    { organizationId }: OwnerScope,
    { limit, before = ID_MAX + 1 }: PageRequest,
  ): Promise<Paged<AuditEventResponse>> {
    const text = pageStatement(PAGE, limit);
    const rows = await this.dataSource.query<PageRow<AuditEventResponse>[]>(text, [organizationId, before]);
    return toPage<AuditEventResponse>(rows, limit, jsonBytes, toCursor);
  }
}
