import type { Paged } from '../../common/paging.js';
import type { AuditDetails, AuditEvent, AuditTarget } from '../audit-event.entity.js';

export class AuditEventResponse {
  id: number;
  /** ISO 8601, UTC, milliseconds. */
  at: string;
  /** Null: nobody in person, such as a scheduled job. */
  actor: { user_id: string; email: string } | null;
  /** `member.removed` and so on. */
  action: string;
  /** What was acted on, as it was then. */
  target: AuditTarget;
  details: AuditDetails;

  static from({ id, at, actorUserId, actorEmail, action, target, details }: AuditEvent): AuditEventResponse {
    const actor =
      actorUserId === null || actorEmail === null ? null : { user_id: actorUserId, email: actorEmail };
    return { id, at, actor, action, target, details };
  }
}

export class AuditPageResponse {
  events: AuditEventResponse[];
  /** Null on the last page. */
  next_cursor: string | null;

  static from({ rows, nextCursor }: Paged<AuditEvent>): AuditPageResponse {
    return { events: rows.map((event) => AuditEventResponse.from(event)), next_cursor: nextCursor };
  }
}
