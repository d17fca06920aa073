import type { Request } from 'express';
import { FORM_REJECTIONS, readForm } from '../../common/body/form-body.js';
import { NotAForm } from './device-auth.errors.js';

/** Rejections of {@link readDeviceForm}, for the OpenAPI document. */
export const DEVICE_FORM_REJECTIONS = [NotAForm, ...FORM_REJECTIONS];

/** {@link readForm} for a route that accepts only forms. @throws NotAForm, and the errors of {@link readForm} */
export async function readDeviceForm(request: Request): Promise<URLSearchParams> {
  const form = await readForm(request);
  if (!form) throw new NotAForm();
  return form;
}
