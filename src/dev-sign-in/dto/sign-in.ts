import { About, EmailAddress } from '../../common/fields.js';
import { Shown, text } from '../../common/members.js';

export class SignInDto {
  @EmailAddress('invalid_email')
  @About('Who you want to be.', 'ada@example.com')
  email: string;
}

export class SessionResponse {
  @Shown(text('eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl'), 'A session, for `Authorization: Bearer`.')
  token: string;
}
