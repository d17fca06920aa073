import type { DeviceRequest } from '../user-code-lookup.js';

/** What somebody is to decide about. */
export class DeviceRequestResponse {
  user_code: string;
  /** As the device calls itself; nobody has checked it. */
  name: string | null;
  hostname: string | null;
  ip: string;
  /** Whether the caller comes from the same address (of IPv6: the same /64). */
  same_ip: boolean;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
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
  status: 'approved' | 'denied';
}
