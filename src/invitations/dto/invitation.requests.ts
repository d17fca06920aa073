import { About, EmailAddress, OneOf, Text } from '../../common/fields.js';
import { ROLES } from '../../organizations/membership.entity.js';
import type { Role } from '../../organizations/membership.entity.js';

export class InviteDto {
  @About('Whom the invitation is for: nobody else can accept it.', 'grace@example.com')
  @EmailAddress()
  email: string;

  @About('What they will be.', 'member')
  @OneOf(ROLES, 'invalid_role')
  role: Role;
}

export class InvitationTokenDto {
  @About('From the link of the invitation.', 'zO4pS0m3iWc1jv0sYb2cSGX9b1m0l7r5i0u6yq8t2kE')
  @Text()
  token: string;
}
