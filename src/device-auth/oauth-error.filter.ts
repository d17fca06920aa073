import { Catch, HttpStatus } from '@nestjs/common';
import type { ArgumentsHost } from '@nestjs/common';
import type { Response } from 'express';
import { ErrorFilter } from '../common/error.filter.js';
import type { Refusal } from '../common/error.filter.js';
import { UnknownDeviceCode } from './device-auth.errors.js';
import { InvalidGrant } from './oauth.errors.js';

/** Errors as RFC 6749, section 5.2, has them: flat, and 400 also while the device is to ask again (RFC 8628, 3.5). */
@Catch()
export class OAuthErrorFilter extends ErrorFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    super.catch(exception instanceof UnknownDeviceCode ? new InvalidGrant() : exception, host);
  }

  protected override present({ status, type, message, interval }: Refusal, response: Response): void {
    if (interval !== undefined || status === Number(HttpStatus.UNSUPPORTED_MEDIA_TYPE)) {
      response.status(HttpStatus.BAD_REQUEST);
    }
    const error = type ?? (status < 500 ? 'invalid_request' : 'server_error');
    response.set('Cache-Control', 'no-store').json({ error, error_description: message });
  }
}
