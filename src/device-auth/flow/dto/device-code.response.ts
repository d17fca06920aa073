import { ApiMember, text } from '../../../common/api/members.js';
import { SESSION_SECONDS, POLL_INTERVAL_SECONDS } from '../device-flow.js';

export class DeviceCodeResponse {
  @ApiMember(text('q3Zx0cR9...'), 'The secret to poll with. Do not log it.')
  device_code: string;

  @ApiMember(
    {
      type: 'string',
      pattern: '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$',
      example: 'WDJB-MJHT',
    },
    'The code that the person compares or types.',
  )
  user_code: string;

  @ApiMember(text('https://mintkeep.example.com/auth/device'))
  verification_uri: string;

  @ApiMember(
    text('https://mintkeep.example.com/auth/device?user_code=WDJB-MJHT'),
    '`verification_uri` with the code in its query.',
  )
  verification_uri_complete: string;

  @ApiMember(
    { type: 'integer', enum: [SESSION_SECONDS], example: SESSION_SECONDS },
    'Lifetime of both codes in seconds.',
  )
  expires_in: number;

  @ApiMember(
    { type: 'integer', enum: [POLL_INTERVAL_SECONDS], example: POLL_INTERVAL_SECONDS },
    'Minimum time between two polls in seconds.',
  )
  interval: number;
}

/** The only response that contains the key. */
export class DeviceKeyResponse {
  @ApiMember(text('mk_7Hq2vN0dK5sWb8xTzJ4mRcYfL1gPaE6uQoXi2a0Bc3Dx9Qd'))
  api_key: string;

  @ApiMember({ type: 'integer', format: 'int64', example: 1769851800000 }, 'Unix time in milliseconds.')
  issued_at_ms: number;
}
