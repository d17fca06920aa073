import type { Request } from 'express';
import getRawBody from 'raw-body';
import { BadRequest, UnsupportedEncoding } from './domain-error.js';

const FORM_LIMIT_BYTES = 16_384;

/** The fields of a form that a browser posted. @throws BadRequest @throws UnsupportedEncoding */
export async function readForm(request: Request): Promise<URLSearchParams> {
  if (request.headers['content-encoding'] !== undefined) throw new UnsupportedEncoding();
  const length = request.headers['content-length'];
  try {
    const bytes = await getRawBody(request, { length, limit: FORM_LIMIT_BYTES });
    return new URLSearchParams(bytes.toString('utf8'));
  } catch {
    request.resume();
    throw new BadRequest('the form cannot be read');
  }
}

/** Whether the body says that it is a form. */
export function isForm(request: Request): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? '');
}
