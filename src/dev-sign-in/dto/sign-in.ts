import { About, EmailAddress } from '../../common/fields.js';
import { maybe, Shown, text } from '../../common/members.js';

export class SignInDto {
  @EmailAddress()
  @About('Who you want to be.', 'ada@example.com')
  email: string;

  @Shown(maybe({ type: 'string' }), 'Of a form: where to go then, a page of ours or of the dashboard.')
  return_to?: string;
}

export class SessionResponse {
  @Shown(text('eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl'), 'A session, for `Authorization: Bearer`.')
  token: string;
}
