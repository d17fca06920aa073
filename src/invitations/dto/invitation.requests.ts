import { EmailAddress, OneOf, Text } from '../../common/fields.js';
import { ROLES } from '../../organizations/membership.entity.js';
import type { Role } from '../../organizations/membership.entity.js';

export class InviteDto {
  /** Whom the invitation is for: nobody else can accept it. */
  @EmailAddress('invalid_email')
  email: string;

  @OneOf(ROLES, 'invalid_role')
  role: Role;
}

export class InvitationTokenDto {
  /** From the link of the invitation. */
  @Text()
  token: string;
}
