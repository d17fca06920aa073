import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { bearerToken } from '../common/bearer-token.js';
import { tokenHash } from '../common/secret-token.js';
import { Settings } from '../config/settings.js';
import { NoAdminToken } from './health.errors.js';

/** Lets a request pass that carries `ADMIN_TOKEN`, or everybody where none is set. */
@Injectable()
export class AdminTokenGuard implements CanActivate {
  private readonly expected?: Buffer;

  constructor({ adminToken }: Settings) {
    if (adminToken !== undefined) this.expected = tokenHash(adminToken);
  }

  canActivate(context: ExecutionContext): boolean {
    if (!this.expected) return true;
    const token = bearerToken(context.switchToHttp().getRequest<Request>().headers.authorization);
    // Hashes are of one length, and tell nothing of the token by how much of them is alike.
    if (token === undefined || !timingSafeEqual(tokenHash(token), this.expected)) throw new NoAdminToken();
    return true;
  }
}
