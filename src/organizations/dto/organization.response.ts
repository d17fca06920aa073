import { COUNT, ID, listOf, oneOf, orNull, ApiMember, text, TIME } from '../../common/api/members.js';
import { ROLES } from '../model/membership.entity.js';
import type { Role } from '../model/membership.entity.js';
import type { OrganizationKind } from '../model/organization.entity.js';

export class OrganizationResponse {
  @ApiMember(ID)
  id: number;

  @ApiMember(text('Acme'))
  name: string;

  @ApiMember(orNull(text('acme')), 'Null for a personal organization.')
  slug: string | null;

  @ApiMember(oneOf(['team', 'personal']))
  kind: OrganizationKind;

  @ApiMember(oneOf(ROLES), 'Role of the caller.')
  role: Role;

  @ApiMember(COUNT)
  member_count: number;

  @ApiMember(TIME)
  created_at: string;

  @ApiMember(TIME)
  updated_at: string;
}

export class OrganizationListResponse {
  @ApiMember(listOf(OrganizationResponse), 'All organizations of the caller, ordered by id.')
  organizations: OrganizationResponse[];
}

export class OrganizationDeletedResponse {
  @ApiMember(oneOf(['deleted']))
  status: 'deleted';

  @ApiMember(COUNT, 'Number of keys that this call revoked.')
  revoked_keys: number;
}
