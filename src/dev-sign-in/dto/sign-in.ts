import { About, EmailAddress } from '../../common/body/fields.js';
import { ApiMember, optional, text } from '../../common/api/members.js';

export class SignInDto {
  @EmailAddress()
  @About('E-mail address of the user to sign in as.', 'ada@example.com')
  email: string;

  @ApiMember(
    optional({ type: 'string' }),
    'Form only: URL to open after the sign-in, of this service or of the dashboard.',
  )
  return_to?: string;
}

export class SessionResponse {
  @ApiMember(text('eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl'), 'A session, for `Authorization: Bearer`.')
  token: string;
}
