import { Catch } from '@nestjs/common';
import type { ArgumentsHost } from '@nestjs/common';
import { BadRequest, InvalidField, UnsupportedEncoding } from '../common/domain-error.js';
import { ErrorFilter } from '../common/error.filter.js';
import { InvalidRequest } from './device-auth.errors.js';

/** Devices are told of everything that is wrong with a body by one type. */
@Catch()
export class DeviceErrorFilter extends ErrorFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    super.catch(isAboutBody(exception) ? new InvalidRequest(exception.message) : exception, host);
  }
}

function isAboutBody(exception: unknown): exception is Error {
  return [BadRequest, InvalidField, UnsupportedEncoding].some((type) => exception instanceof type);
}
