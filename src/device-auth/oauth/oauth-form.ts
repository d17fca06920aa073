import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { InvalidRequest } from '../flow/device-auth.errors.js';
import { readDeviceForm } from '../flow/device-form.js';

/**
 * Reads the form of a request below `/oauth`. RFC 6749, section 3.2: no parameter may be repeated, and a parameter
 * without a value counts as absent.
 * @throws InvalidRequest
 */
export const OAuthForm = createParamDecorator(async (_: unknown, context: ExecutionContext) => {
  const form = await readDeviceForm(context.switchToHttp().getRequest<Request>());
  if (new Set(form.keys()).size !== form.size) throw new InvalidRequest('parameters must not be repeated');
  // Copies the form, because every `URLSearchParams.delete` scans all parameters.
  return new URLSearchParams([...form].filter(([, value]) => value !== ''));
});
