import { Catch, HttpStatus } from '@nestjs/common';
import { ErrorFilter } from '../common/error.filter.js';
import type { Refusal, RefusalAnswer } from '../common/error.filter.js';
import { UnknownDeviceCode } from './device-auth.errors.js';
import { InvalidGrant } from './oauth.errors.js';

/** Errors as RFC 6749, section 5.2, has them: flat, and 400 also while the device is to ask again (RFC 8628, 3.5). */
@Catch()
export class OAuthErrorFilter extends ErrorFilter {
  override answerTo(refusal: Refusal): RefusalAnswer {
    const { status, type, message, interval } =
      refusal instanceof UnknownDeviceCode ? new InvalidGrant() : refusal;
    const isBadRequest = interval !== undefined || status === Number(HttpStatus.UNSUPPORTED_MEDIA_TYPE);
    const error = type ?? (status < 500 ? 'invalid_request' : 'server_error');
    return {
      status: isBadRequest ? HttpStatus.BAD_REQUEST : status,
      body: { error, error_description: message },
    };
  }
}
