import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Settings } from '../config/settings.js';
import { NotFromHere } from './dev-sign-in.errors.js';

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d+)?$/i;

/** Methods that change nothing: links from elsewhere, such as the dashboard's, may lead here. */
const SAFE_METHODS = ['GET', 'HEAD'];

/**
 * Whoever can post here can be anybody. So: no name for this machine but its own, which keeps out sites that
 * point their name at 127.0.0.1, and no forms from other sites.
 */
@Injectable()
export class OwnOriginGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  /** @throws NotFromHere */
  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = context.switchToHttp().getRequest<Request>();
    const isOurName = LOOPBACK.test(headers.host ?? '');
    const isAllowed = isOurName && (SAFE_METHODS.includes(method) || this.isOurSite(headers));
    if (!isAllowed) throw new NotFromHere();
    return true;
  }

  /** Tools send neither header, and they are welcome: another site cannot make a browser leave both out. */
  private isOurSite({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    if (site === 'cross-site' || site === 'same-site') return false;
    return (
      origin === undefined ||
      origin === `http://${host}` ||
      origin === new URL(this.settings.publicUrl).origin
    );
  }
}
