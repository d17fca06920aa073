import { Logger } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';
import { requestIdOf } from '../common/request-id.js';
import type { Metrics } from './metrics.js';

/** Asked for all the time by machines: of use to who debugs only. */
const QUIET = new Set(['/healthz', '/readyz', '/metrics']);
/** What a request counts under whose client did not wait for the answer, as nginx has it. */
export const CLIENT_GONE = 499;

/** What is told of a request: never its path. */
interface ObservedRequest {
  readonly requestId: string;
  readonly method?: string;
  /** The pattern that matched. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly userId?: string;
}

/**
 * Measures every request that Express answers, and logs it in a line. Paths and queries stay out of both: they
 * may hold codes and tokens. What matched is told instead.
 */
export function observeRequests(metrics: Metrics): RequestHandler {
  const logger = new Logger('Request');
  return (request, response, next) => {
    const beganAt = performance.now();
    response.once('close', () => {
      const ms = performance.now() - beganAt;
      const route = routeOf(request);
      const status = response.writableFinished ? response.statusCode : CLIENT_GONE;
      const { method, user } = request as Request & { user?: { id?: string } };
      metrics.http.finished(method, route, status, ms / 1_000);
      const line = lineOf({ requestId: requestIdOf(response), method, route, status, ms, userId: user?.id });
      if (QUIET.has(route)) logger.debug(line);
      else logger.log(line);
    });
    next();
  };
}

/** A request as the log has it. */
export function lineOf({ requestId, method, route, status, ms, userId }: ObservedRequest): object {
  return { requestId, method, route, status, ms: Math.round(ms * 10) / 10, userId };
}

/** The pattern; that of a route which answers for all that are not there does not count. */
function routeOf({ route }: Request): string {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === 'string' && !path.endsWith('*everything}') ? path : 'unmatched';
}
