import { About, Name, OneOf, Optional, Slug } from '../../common/body/fields.js';
import { ROLES } from '../model/membership.entity.js';
import type { Role } from '../model/membership.entity.js';

export class CreateOrganizationDto {
  @About('1 to 255 characters after trimming.', 'Acme')
  @Name('invalid_name')
  name: string;

  @About('Unique among all organizations, including deleted ones.', 'acme-example')
  @Slug()
  slug: string;
}

/** Members that are absent or null keep their values. */
export class UpdateOrganizationDto {
  @About('1 to 255 characters after trimming.', 'Acme Corporation')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('Cannot be changed; only the current slug is accepted.')
  @Optional()
  @Slug()
  slug?: string;
}

export class ChangeRoleDto {
  @About('New role of the member.', 'admin')
  @OneOf(ROLES, 'invalid_role')
  role: Role;
}
