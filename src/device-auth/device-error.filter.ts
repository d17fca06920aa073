import { Catch } from '@nestjs/common';
import { BadRequest, InvalidField, UnsupportedEncoding } from '../common/domain-error.js';
import { ErrorFilter } from '../common/error.filter.js';
import type { Refusal, RefusalAnswer } from '../common/error.filter.js';
import { InvalidRequest } from './device-auth.errors.js';

/** Devices are told of everything that is wrong with a body by one type. */
@Catch()
export class DeviceErrorFilter extends ErrorFilter {
  override answerTo(refusal: Refusal): RefusalAnswer {
    return super.answerTo(isAboutBody(refusal) ? new InvalidRequest(refusal.message) : refusal);
  }
}

function isAboutBody(refusal: Refusal): boolean {
  return [BadRequest, InvalidField, UnsupportedEncoding].some((type) => refusal instanceof type);
}
