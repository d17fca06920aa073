import type { Role } from '../membership.entity.js';
import type { OrganizationKind } from '../organization.entity.js';

export class OrganizationResponse {
  id: number;
  name: string;
  /** Null for a personal organization. */
  slug: string | null;
  kind: OrganizationKind;
  /** The caller's. */
  role: Role;
  member_count: number;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  updated_at: string;
}

export class OrganizationListResponse {
  organizations: OrganizationResponse[];
}

export class OrganizationDeletedResponse {
  status: 'deleted';
  /** How many keys this call revoked. */
  revoked_keys: number;
}
