import type { Request } from 'express';
import { ANONYMOUS_BODY, BodyTooLarge, readBytes } from './body-bytes.js';
import { BadRequest, RequestTimeout, UnsupportedEncoding } from '../api/domain-error.js';

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;
export const MAX_PARAMETERS = 100;
const AMPERSAND = 0x26;

/**
 * Reads a form of at most 16 KiB within 10 s, on every route. Forms of devices and browsers never need more.
 * @returns undefined when the body is not a form
 * @throws BodyTooLarge
 * @throws RequestTimeout
 * @throws TooManyParameters
 */
export async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  return parseForm(request, await readBytes(request, ANONYMOUS_BODY));
}

/**
 * Parses a form. The header alone does not decide, because curl sends it with every body, JSON included; a form never
 * begins with a brace.
 * @returns undefined when the body is not a form
 * @throws TooManyParameters
 */
export function parseForm(request: Request, body: Buffer): URLSearchParams | undefined {
  if (!FORM.test(request.headers['content-type'] ?? '')) return undefined;
  const text = body.toString('utf8');
  if (text.trimStart().startsWith('{')) return undefined;
  if (hasTooManyParameters(body)) throw new TooManyParameters();
  return new URLSearchParams(text);
}

/** Counts like the parser, which ignores empty parameters between two ampersands. */
function hasTooManyParameters(body: Buffer): boolean {
  let count = 0;
  let previous = AMPERSAND;
  for (const byte of body) {
    if (byte !== AMPERSAND && previous === AMPERSAND) count++;
    previous = byte;
  }
  return count > MAX_PARAMETERS;
}

/** 400 for a form with more than {@link MAX_PARAMETERS} parameters. */
export class TooManyParameters extends BadRequest {
  constructor() {
    super(`the form has more than ${MAX_PARAMETERS} parameters`);
  }
}

/** Rejections of {@link readForm}, for the OpenAPI document. */
export const FORM_REJECTIONS = [
  new UnsupportedEncoding(),
  new BodyTooLarge(ANONYMOUS_BODY.limitBytes),
  new TooManyParameters(),
  new RequestTimeout(),
];
