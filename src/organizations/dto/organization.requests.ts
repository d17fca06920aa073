import { About, Name, OneOf, Optional, Slug } from '../../common/fields.js';
import { ROLES } from '../membership.entity.js';
import type { Role } from '../membership.entity.js';

export class CreateOrganizationDto {
  @About('1 to 255 characters after trimming.', 'Acme')
  @Name('invalid_name')
  name: string;

  @About('Unique among all organizations there ever were.', 'acme-example')
  @Slug()
  slug: string;
}

/** What is left out or null stays as it is. */
export class UpdateOrganizationDto {
  @About('1 to 255 characters after trimming.', 'Acme Corporation')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('May be sent back as it is, but not changed.')
  @Optional()
  @Slug()
  slug?: string;
}

export class ChangeRoleDto {
  @About('What the member may do from now on.', 'admin')
  @OneOf(ROLES, 'invalid_role')
  role: Role;
}
