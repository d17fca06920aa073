import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Settings } from '../config/settings.js';
import { CsrfFailed } from './device-auth.errors.js';

/** Lets forms of our own pages pass: the browser says where they come from, and no page can make it lie. */
@Injectable()
export class SameOriginGuard implements CanActivate {
  private readonly publicOrigin: string;

  constructor({ publicUrl }: Settings) {
    this.publicOrigin = new URL(publicUrl).origin;
  }

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    const { origin, host } = headers;
    const site = headers['sec-fetch-site'];
    const sameOrigin = site === undefined ? this.isOurs(origin, host) : site === 'same-origin';
    if (!sameOrigin) throw new CsrfFailed();
    return true;
  }

  /** For browsers that do not send `Sec-Fetch-Site`, as to plain HTTP. */
  private isOurs(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined || !URL.canParse(origin)) return false;
    return origin === this.publicOrigin || new URL(origin).host === host;
  }
}
