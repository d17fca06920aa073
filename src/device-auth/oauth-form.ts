import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { readBytes } from '../common/body-bytes.js';
import { parseForm } from '../common/form-body.js';
import { InvalidRequest } from './device-auth.errors.js';

/** The parameters of the request's form. RFC 6749, 3.2: none twice, and one without a value is none. @throws InvalidRequest */
export const OAuthForm = createParamDecorator(async (_: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<Request>();
  const form = parseForm(request, await readBytes(request));
  if (!form) throw new InvalidRequest('the body must be application/x-www-form-urlencoded');
  if (new Set(form.keys()).size !== form.size) throw new InvalidRequest('a parameter is there twice');
  for (const [name, value] of [...form]) if (value === '') form.delete(name);
  return form;
});
