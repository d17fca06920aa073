import { About, EmailAddress, OneOf, Text } from '../../common/body/fields.js';
import { ROLES } from '../../organizations/model/membership.entity.js';
import type { Role } from '../../organizations/model/membership.entity.js';

export class InviteDto {
  @About('Address of the person who is invited. Nobody else can accept the invitation.', 'grace@example.com')
  @EmailAddress()
  email: string;

  @About('Role after acceptance.', 'member')
  @OneOf(ROLES, 'invalid_role')
  role: Role;
}

export class InvitationTokenDto {
  @About('Token of the invitation link.', 'zO4pS0m3iWc1jv0sYb2cSGX9b1m0l7r5i0u6yq8t2kE')
  @Text()
  token: string;
}
