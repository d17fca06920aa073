import { Name, OneOf, Optional, Slug } from '../../common/fields.js';
import { ROLES } from '../membership.entity.js';
import type { Role } from '../membership.entity.js';

export class CreateOrganizationDto {
  /** 1 to 255 characters after trimming. */
  @Name('invalid_name')
  name: string;

  /** Unique among all organizations there ever were. */
  @Slug()
  slug: string;
}

/** What is left out or null stays as it is. */
export class UpdateOrganizationDto {
  @Optional()
  @Name('invalid_name')
  name?: string;

  /** May be sent back as it is, but not changed. */
  @Optional()
  @Slug()
  slug?: string;
}

export class ChangeRoleDto {
  @OneOf(ROLES, 'invalid_role')
  role: Role;
}
