import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { DevicePageUrls } from './device-page-urls.js';
import { DeviceCodes } from './device-codes.js';
import { POLL_INTERVAL_SECONDS, SESSION_SECONDS } from './device-flow.js';
import { DeviceSession } from './device-session.entity.js';
import type { BeginDeviceSessionDto } from './dto/device-code.requests.js';
import type { DeviceCodeResponse } from './dto/device-code.response.js';
import { UserCodes } from './user-codes.js';

const USER_CODE_ATTEMPTS = 5;

/** Inserts no row if the user code is in use. `$3` has the HMACs under all encryption keys, older ones included. */
const INSERT = `
  INSERT INTO device_sessions (device_code_sha256, user_code_hmac, state, name, hostname, ip, expires_at)
  SELECT $1, $2, 'pending', $4, $5, $6, now() + make_interval(secs => ${SESSION_SECONDS})
  WHERE NOT EXISTS (SELECT FROM device_sessions WHERE user_code_hmac = ANY($3))
  ON CONFLICT ON CONSTRAINT device_sessions_user_code_hmac_key DO NOTHING RETURNING id`;

/** Begins device sessions. */
@Injectable()
export class DeviceSessionsService {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly deviceCodes: DeviceCodes,
    private readonly userCodes: UserCodes,
    private readonly urls: DevicePageUrls,
  ) {}

  /** @param address IP address of the device */
  async begin(device: BeginDeviceSessionDto, address: string): Promise<DeviceCodeResponse> {
    const deviceCode = this.deviceCodes.issue();
    const userCode = await this.insert(deviceCode, device, address);
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: this.urls.page,
      verification_uri_complete: this.urls.pageWithCode(userCode),
      expires_in: SESSION_SECONDS,
      interval: POLL_INTERVAL_SECONDS,
    };
  }

  /** @returns a user code that no other session has */
  private async insert(deviceCode: string, device: BeginDeviceSessionDto, address: string): Promise<string> {
    const { name = null, hostname = null } = device;
    const deviceCodeSha256 = this.deviceCodes.verifyAndHash(deviceCode);
    for (let attempt = 0; attempt < USER_CODE_ATTEMPTS; attempt++) {
      const userCode = this.userCodes.generate();
      const hmacs = this.userCodes.hmacs(userCode);
      const values = [deviceCodeSha256, hmacs[0], hmacs, name, hostname, address];
      const inserted = await this.sessions.query<unknown[]>(INSERT, values);
      if (inserted.length === 1) return userCode;
    }
    throw new Error(`no unused user code found in ${USER_CODE_ATTEMPTS} attempts`);
  }
}
