import type { Role } from '../membership.entity.js';

export class MemberResponse {
  user_id: string;
  email: string;
  role: Role;
  /** ISO 8601, UTC, milliseconds. */
  joined_at: string;
}

export class MemberListResponse {
  members: MemberResponse[];
}

export class MemberRemovedResponse {
  status: 'removed';
  /** How many keys this call revoked. */
  revoked_keys: number;
}
