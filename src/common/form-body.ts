import type { Request } from 'express';

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/**
 * The fields of a form, if that is what the body is: the header alone does not decide, because curl sends it
 * with everything, JSON included. A form never begins with a brace.
 */
export function parseForm(request: Request, body: Buffer): URLSearchParams | undefined {
  if (!FORM.test(request.headers['content-type'] ?? '')) return undefined;
  const text = body.toString('utf8');
  return text.trimStart().startsWith('{') ? undefined : new URLSearchParams(text);
}
