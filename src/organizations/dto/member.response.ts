import { COUNT, EMAIL, listOf, oneOf, Shown, TIME, USER_ID } from '../../common/members.js';
import { ROLES } from '../membership.entity.js';
import type { Role } from '../membership.entity.js';

export class MemberResponse {
  @Shown(USER_ID)
  user_id: string;

  @Shown(EMAIL)
  email: string;

  @Shown(oneOf(ROLES))
  role: Role;

  @Shown(TIME)
  joined_at: string;
}

export class MemberListResponse {
  @Shown(listOf(MemberResponse), 'By when they joined.')
  members: MemberResponse[];
}

export class MemberRemovedResponse {
  @Shown(oneOf(['removed']))
  status: 'removed';

  @Shown(COUNT, 'How many keys this call revoked.')
  revoked_keys: number;
}
