import { COUNT, EMAIL, listOf, oneOf, ApiMember, TIME, USER_ID } from '../../common/api/members.js';
import { ROLES } from '../model/membership.entity.js';
import type { Role } from '../model/membership.entity.js';

export class MemberResponse {
  @ApiMember(USER_ID)
  user_id: string;

  @ApiMember(EMAIL)
  email: string;

  @ApiMember(oneOf(ROLES))
  role: Role;

  @ApiMember(TIME)
  joined_at: string;
}

export class MemberListResponse {
  @ApiMember(listOf(MemberResponse), 'Ordered by the time of joining.')
  members: MemberResponse[];
}

export class MemberRemovedResponse {
  @ApiMember(oneOf(['removed']))
  status: 'removed';

  @ApiMember(COUNT, 'Number of keys that this call revoked.')
  revoked_keys: number;
}
