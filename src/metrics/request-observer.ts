import { Logger } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';
import { requestIdOf } from '../common/api/request-id.js';
import type { Metrics } from './metrics.js';

/** Routes that machines poll. They are logged at level `debug`. */
const QUIET = new Set(['/healthz', '/readyz', '/metrics']);
/** Status of a request whose client disconnected before the response, as in nginx. */
export const CLIENT_GONE_STATUS = 499;

/** Log entry of a request. Never contains its path. */
interface ObservedRequest {
  readonly requestId: string;
  readonly method?: string;
  /** The matched pattern. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly userId?: string;
}

/**
 * Measures and logs every request that Express handles. Metrics and log contain the matched pattern. Paths and queries
 * may contain codes and tokens, and are left out.
 */
export function observeRequests(metrics: Metrics): RequestHandler {
  const logger = new Logger('Request');
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      const ms = performance.now() - startedAt;
      const route = routeOf(request);
      const status = response.writableFinished ? response.statusCode : CLIENT_GONE_STATUS;
      const { method, user } = request as Request & { user?: { id?: string } };
      metrics.http.finished(method, route, status, ms / 1_000);
      const line = lineOf({ requestId: requestIdOf(response), method, route, status, ms, userId: user?.id });
      if (QUIET.has(route)) logger.debug(line);
      else logger.log(line);
    });
    next();
  };
}

/** Formats a request for the log. */
export function lineOf({ requestId, method, route, status, ms, userId }: ObservedRequest): object {
  return { requestId, method, route, status, ms: Math.round(ms * 10) / 10, userId };
}

/** Finds the matched pattern. The route for unknown paths counts as `unmatched`. */
function routeOf({ route }: Request): string {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === 'string' && !path.endsWith('*everything}') ? path : 'unmatched';
}
