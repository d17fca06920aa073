import {
  EMAIL,
  ID,
  listOf,
  object,
  oneOf,
  orNull,
  ApiMember,
  text,
  TIME,
  USER_ID,
} from '../../common/api/members.js';
import type { MemberSchema } from '../../common/api/members.js';
import type { Paged } from '../../common/api/paging.js';
import { AUDIT_ACTIONS } from './audit-event.entity.js';
import type { AuditDetails, AuditTarget } from './audit-event.entity.js';

/** Schema of an object whose values are scalars. */
function flat(types: readonly string[], example: object): MemberSchema {
  const additionalProperties = { oneOf: types.map((type) => ({ type })) };
  return { type: 'object', additionalProperties, example };
}

export class AuditEventResponse {
  @ApiMember(ID)
  id: number;

  @ApiMember(TIME)
  at: string;

  @ApiMember(
    orNull(object({ user_id: USER_ID, email: EMAIL })),
    'Null if no user acted, for example in a scheduled job.',
  )
  actor: { user_id: string; email: string } | null;

  @ApiMember({ ...oneOf(AUDIT_ACTIONS), example: 'member.role_changed' })
  action: string;

  @ApiMember(
    flat(['string', 'integer', 'null'], { type: 'member', user_id: USER_ID.example, email: EMAIL.example }),
    'Object of the action with its state at that time.',
  )
  target: AuditTarget;

  @ApiMember(
    { type: 'object', additionalProperties: true, example: { from: 'member', to: 'admin' } },
    'Changed values. Those of limits are objects.',
  )
  details: AuditDetails;
}

export class AuditPageResponse {
  @ApiMember(listOf(AuditEventResponse), 'Newest first.')
  events: AuditEventResponse[];
  @ApiMember(orNull(text('MTIz')), 'Null on the last page.')
  next_cursor: string | null;

  static from({ rows, nextCursor }: Paged<AuditEventResponse>): AuditPageResponse {
    return { events: rows, next_cursor: nextCursor };
  }
}
