import type { Request } from 'express';

/** Whether the header `Accept` names HTML, as browsers do for pages. Clients of APIs send a wildcard or nothing. */
export function acceptsHtml(request: Request): boolean {
  return request.accepts().includes('text/html');
}
