import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Settings } from '../../config/settings.js';
import { clientAddress, toNetwork } from '../flow/client-address.js';
import { RateLimits } from '../flow/rate-limits.js';

const WINDOW_SECONDS = 60;

/**
 * Limits how many device codes one client may request. Guards run before the body is read. A client over its limit
 * therefore costs no memory for a body, and a request with an invalid body counts too.
 */
@Injectable()
export class DeviceCodeLimitGuard implements CanActivate {
  constructor(
    private readonly limits: RateLimits,
    private readonly settings: Settings,
  ) {}

  /** @throws RateLimited */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const network = toNetwork(clientAddress(context.switchToHttp().getRequest<Request>()));
    await this.limits.hit(`device-codes:${network}`, this.settings.deviceCodesPerMinute, WINDOW_SECONDS);
    return true;
  }
}
