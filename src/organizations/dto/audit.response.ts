import {
  EMAIL,
  ID,
  listOf,
  object,
  oneOf,
  orNull,
  Shown,
  text,
  TIME,
  USER_ID,
} from '../../common/members.js';
import type { MemberSchema } from '../../common/members.js';
import type { Paged } from '../../common/paging.js';
import { AUDIT_ACTIONS } from '../audit-trail.js';
import type { AuditDetails, AuditEvent, AuditTarget } from '../audit-event.entity.js';

/** An object of plain values. */
function flat(types: readonly string[], example: object): MemberSchema {
  const additionalProperties = { oneOf: types.map((type) => ({ type })) };
  return { type: 'object', additionalProperties, example };
}

export class AuditEventResponse {
  @Shown(ID)
  id: number;

  @Shown(TIME)
  at: string;

  @Shown(
    orNull(object({ user_id: USER_ID, email: EMAIL })),
    'Null: nobody in person, such as a scheduled job.',
  )
  actor: { user_id: string; email: string } | null;

  @Shown({ ...oneOf(AUDIT_ACTIONS), example: 'member.role_changed' })
  action: string;

  @Shown(
    flat(['string', 'integer', 'null'], { type: 'member', user_id: USER_ID.example, email: EMAIL.example }),
    'What was acted on, as it was then.',
  )
  target: AuditTarget;

  @Shown(flat(['string', 'number', 'boolean', 'null'], { from: 'member', to: 'admin' }), 'What changed.')
  details: AuditDetails;

  static from({ id, at, actorUserId, actorEmail, action, target, details }: AuditEvent): AuditEventResponse {
    const actor =
      actorUserId === null || actorEmail === null ? null : { user_id: actorUserId, email: actorEmail };
    return { id, at, actor, action, target, details };
  }
}

export class AuditPageResponse {
  @Shown(listOf(AuditEventResponse), 'Newest first.')
  events: AuditEventResponse[];
  @Shown(orNull(text('MTIz')), 'Null on the last page.')
  next_cursor: string | null;

  static from({ rows, nextCursor }: Paged<AuditEvent>): AuditPageResponse {
    return { events: rows.map((event) => AuditEventResponse.from(event)), next_cursor: nextCursor };
  }
}
