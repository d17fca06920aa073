import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Settings } from '../config/settings.js';
import { NotFromHere } from './dev-sign-in.errors.js';

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d+)?$/i;

/**
 * Whoever can post here can be anybody. So: no name for this machine but its own, which keeps out sites that
 * point their name at 127.0.0.1, and no forms from other sites.
 */
@Injectable()
export class OwnOriginGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    const { host = '', origin } = headers;
    const publicUrl = new URL(this.settings.publicUrl);
    if (!LOOPBACK.test(host) && host !== publicUrl.host) throw new NotFromHere();
    const site = headers['sec-fetch-site'];
    if (site === 'cross-site' || site === 'same-site') throw new NotFromHere();
    const ours = origin === undefined || origin === publicUrl.origin || origin === `http://${host}`;
    if (!ours) throw new NotFromHere();
    return true;
  }
}
