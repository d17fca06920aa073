import { FLAG, oneOf, orNull, Shown, text, TIME } from '../../common/members.js';
import type { DeviceRequest } from '../user-code-lookup.js';

/** What somebody is to decide about. */
export class DeviceRequestResponse {
  @Shown(text('WDJB-MJHT'))
  user_code: string;

  @Shown(orNull(text('mint CLI')), 'As the device calls itself; nobody has checked it.')
  name: string | null;

  @Shown(orNull(text('adas-laptop')), 'As the device calls itself; nobody has checked it.')
  hostname: string | null;

  @Shown(text('203.0.113.7'))
  ip: string;

  @Shown(FLAG, 'Whether the caller comes from the same address (of IPv6: the same /64).')
  same_ip: boolean;

  @Shown(TIME)
  created_at: string;

  @Shown(TIME)
  expires_at: string;

  static from(request: DeviceRequest): DeviceRequestResponse {
    const { userCode, name, hostname, address, sameAddress, createdAt, expiresAt } = request;
    return {
      ...{ user_code: userCode, name, hostname, ip: address, same_ip: sameAddress },
      ...{ created_at: createdAt, expires_at: expiresAt },
    };
  }
}

export class DeviceDecisionResponse {
  @Shown(oneOf(['approved', 'denied']))
  status: 'approved' | 'denied';
}
