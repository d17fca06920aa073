import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Settings } from '../config/settings.js';
import { NotLocalRequest } from './dev-sign-in.errors.js';

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d+)?$/i;

/** Methods that change nothing: other sites, such as the dashboard, may link here. */
const SAFE_METHODS = ['GET', 'HEAD'];

/**
 * Rejects requests from other sites and machines, because a POST here can sign in as any user. The host name must be
 * a loopback name, which blocks DNS rebinding. Forms of other sites and requests through a proxy are rejected.
 */
@Injectable()
export class OwnOriginGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  /** @throws NotLocalRequest */
  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = context.switchToHttp().getRequest<Request>();
    const isLoopback = LOOPBACK.test(headers.host ?? '');
    const isAllowed =
      isLoopback && !isForwarded(headers) && (SAFE_METHODS.includes(method) || this.isOwnSite(headers));
    if (!isAllowed) throw new NotLocalRequest();
    return true;
  }

  /** Whether the request comes from this site or a tool. Tools send neither header, but a browser's POST has one. */
  private isOwnSite({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    if (site === 'cross-site' || site === 'same-site') return false;
    return (
      origin === undefined ||
      origin === `http://${host}` ||
      origin === new URL(this.settings.publicUrl).origin
    );
  }
}

/** Whether a proxy forwarded the request. Its client may be remote, although the peer is this machine. */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => name === 'forwarded' || name.startsWith('x-forwarded-'));
}
