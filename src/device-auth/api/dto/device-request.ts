import { About, IdField, Optional } from '../../../common/body/fields.js';
import { ApiMember, FLAG, oneOf, orNull, text, TIME } from '../../../common/api/members.js';
import type { DeviceRequest } from '../../flow/user-code-lookup.js';

/** A device's request that waits for a decision. */
export class DeviceRequestResponse {
  @ApiMember(text('WDJB-MJHT'))
  user_code: string;

  @ApiMember(orNull(text('mint CLI')), 'Given by the device; not verified.')
  name: string | null;

  @ApiMember(orNull(text('adas-laptop')), 'Given by the device; not verified.')
  hostname: string | null;

  @ApiMember(text('203.0.113.7'))
  ip: string;

  @ApiMember(FLAG, 'Whether the caller has the same address as the device (for IPv6: the same /64).')
  same_ip: boolean;

  @ApiMember(TIME)
  created_at: string;

  @ApiMember(TIME)
  expires_at: string;

  static from(request: DeviceRequest): DeviceRequestResponse {
    const { userCode, name, hostname, address, sameAddress, createdAt, expiresAt } = request;
    return {
      user_code: userCode,
      name,
      hostname,
      ip: address,
      same_ip: sameAddress,
      created_at: createdAt,
      expires_at: expiresAt,
    };
  }
}

export class DeviceDecisionResponse {
  @ApiMember(oneOf(['approved', 'denied']))
  status: 'approved' | 'denied';
}

export class ApproveDeviceDto {
  @About('Owner of the upstreams that the key will use. Default: the personal organization.')
  @Optional()
  @IdField()
  organization_id?: number;
}
