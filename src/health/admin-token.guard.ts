import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { bearerToken } from '../common/api/bearer-token.js';
import { tokenHash } from '../common/crypto/secret-token.js';
import { Settings } from '../config/settings.js';
import { AdminTokenRequired } from './health.errors.js';

/** Requires `ADMIN_TOKEN`. Without that setting, every request is accepted. */
@Injectable()
export class AdminTokenGuard implements CanActivate {
  private readonly expected?: Buffer;

  constructor({ adminToken }: Settings) {
    if (adminToken !== undefined) this.expected = tokenHash(adminToken);
  }

  canActivate(context: ExecutionContext): boolean {
    if (!this.expected) return true;
    const token = bearerToken(context.switchToHttp().getRequest<Request>().headers.authorization);
    // Hashes have equal lengths, and a partial match reveals nothing about the token.
    if (token === undefined || !timingSafeEqual(tokenHash(token), this.expected))
      throw new AdminTokenRequired();
    return true;
  }
}
