import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Settings } from '../../config/settings.js';
import { CsrfFailed } from '../flow/device-auth.errors.js';

/** Accepts only forms of mintkeep's own pages. Browsers report the origin, and a page cannot forge it. */
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
    const sameOrigin = site === undefined ? this.isOwnOrigin(origin, host) : site === 'same-origin';
    if (!sameOrigin) throw new CsrfFailed();
    return true;
  }

  /** Fallback for requests without `Sec-Fetch-Site`, which browsers omit over plain HTTP. */
  private isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined || !URL.canParse(origin)) return false;
    return origin === this.publicOrigin || new URL(origin).host === host;
  }
}
