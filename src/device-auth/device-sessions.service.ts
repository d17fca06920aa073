import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Settings } from '../config/settings.js';
import { networkOf } from './client-address.js';
import { DeviceAddresses } from './device-addresses.js';
import { DeviceCodes } from './device-codes.js';
import { POLL_INTERVAL_SECONDS, SESSION_SECONDS } from './device-flow.js';
import { DeviceSession } from './device-session.entity.js';
import type { BeginDeviceSessionDto } from './dto/device-code.requests.js';
import type { DeviceCodeResponse } from './dto/device-code.response.js';
import { RateLimits } from './rate-limits.js';
import { UserCodes } from './user-codes.js';

const ATTEMPTS_AT_A_FREE_CODE = 5;

/** No row when the code is in use, be it under a key of before. */
const INSERT = `
  INSERT INTO device_sessions (device_code_sha256, user_code_hmac, state, name, hostname, ip, expires_at)
  SELECT $1, $2, 'pending', $4, $5, $6, now() + make_interval(secs => ${SESSION_SECONDS})
  WHERE NOT EXISTS (SELECT FROM device_sessions WHERE user_code_hmac = ANY($3))
  ON CONFLICT ON CONSTRAINT device_sessions_user_code_hmac_key DO NOTHING RETURNING id`;

/** Where a login of a device begins. */
@Injectable()
export class DeviceSessionsService {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly deviceCodes: DeviceCodes,
    private readonly userCodes: UserCodes,
    private readonly limits: RateLimits,
    private readonly addresses: DeviceAddresses,
    private readonly settings: Settings,
  ) {}

  /** @param address of the device @throws RateLimited */
  async begin(device: BeginDeviceSessionDto, address: string): Promise<DeviceCodeResponse> {
    await this.limits.hit(`device-codes:${networkOf(address)}`, this.settings.deviceCodesPerMinute, 60);
    const deviceCode = this.deviceCodes.issue();
    const userCode = await this.insert(deviceCode, device, address);
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: this.addresses.page,
      verification_uri_complete: this.addresses.pageOf(userCode),
      expires_in: SESSION_SECONDS,
      interval: POLL_INTERVAL_SECONDS,
    };
  }

  /** @returns a user code that no other session has */
  private async insert(deviceCode: string, device: BeginDeviceSessionDto, address: string): Promise<string> {
    const { name = null, hostname = null } = device;
    const deviceCodeSha256 = this.deviceCodes.hashOf(deviceCode);
    for (let attempt = 0; attempt < ATTEMPTS_AT_A_FREE_CODE; attempt++) {
      const userCode = this.userCodes.generate();
      const hmacs = this.userCodes.hmacs(userCode);
      const values = [deviceCodeSha256, hmacs[0], hmacs, name, hostname, address];
      const inserted = await this.sessions.query<unknown[]>(INSERT, values);
      if (inserted.length === 1) return userCode;
    }
    throw new Error('there is no free user code');
  }
}
