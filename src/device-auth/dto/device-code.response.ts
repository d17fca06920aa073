import { Shown, text } from '../../common/members.js';
import { SESSION_SECONDS, POLL_INTERVAL_SECONDS } from '../device-flow.js';

export class DeviceCodeResponse {
  @Shown(text('q3Zx0cR9...'), 'The secret to poll with: not for logs.')
  device_code: string;

  @Shown(
    {
      type: 'string',
      pattern: '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$',
      example: 'WDJB-MJHT',
    },
    'What the person compares or types.',
  )
  user_code: string;

  @Shown(text('https://mintkeep.example.com/auth/device'))
  verification_uri: string;

  @Shown(
    text('https://mintkeep.example.com/auth/device?user_code=WDJB-MJHT'),
    'The same with the code in it.',
  )
  verification_uri_complete: string;

  @Shown({ type: 'integer', enum: [SESSION_SECONDS], example: SESSION_SECONDS }, 'Seconds.')
  expires_in: number;

  @Shown(
    { type: 'integer', enum: [POLL_INTERVAL_SECONDS], example: POLL_INTERVAL_SECONDS },
    'Seconds between two polls.',
  )
  interval: number;
}

/** The key is shown here and never again. */
export class DeviceKeyResponse {
  @Shown(text('mk_7Hq2vN0dK5sWb8xTzJ4mRcYfL1gPaE6uQoXi2a0Bc3Dx9Qd'))
  api_key: string;

  @Shown({ type: 'integer', format: 'int64', example: 1769851800000 }, 'Unix time in milliseconds.')
  issued_at_ms: number;
}
