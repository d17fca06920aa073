import { COUNT, ID, listOf, oneOf, orNull, Shown, text, TIME } from '../../common/members.js';
import { ROLES } from '../membership.entity.js';
import type { Role } from '../membership.entity.js';
import type { OrganizationKind } from '../organization.entity.js';

export class OrganizationResponse {
  @Shown(ID)
  id: number;

  @Shown(text('Acme'))
  name: string;

  @Shown(orNull(text('acme')), 'Null for a personal organization.')
  slug: string | null;

  @Shown(oneOf(['team', 'personal']))
  kind: OrganizationKind;

  @Shown(oneOf(ROLES), "The caller's.")
  role: Role;

  @Shown(COUNT)
  member_count: number;

  @Shown(TIME)
  created_at: string;

  @Shown(TIME)
  updated_at: string;
}

export class OrganizationListResponse {
  @Shown(listOf(OrganizationResponse), 'All that the caller is in, by id.')
  organizations: OrganizationResponse[];
}

export class OrganizationDeletedResponse {
  @Shown(oneOf(['deleted']))
  status: 'deleted';

  @Shown(COUNT, 'How many keys this call revoked.')
  revoked_keys: number;
}
