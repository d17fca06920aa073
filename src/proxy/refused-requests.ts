import { Injectable, Logger } from '@nestjs/common';
import type { HttpResponse } from '../common/http-exchange.js';
import { requestIdFor } from '../common/request-id.js';
import { Metrics } from '../metrics/metrics.js';
import { CLIENT_GONE, lineOf } from '../metrics/request-observer.js';
import { prepareRefusal } from './prepared-refusal.js';
import type { ProxyErrorCode } from './proxy-error.js';

const ROUTE = '/v1/*';

/**
 * Refuses requests that do not pass the key check. Nobody has a record of their usage: what is left of each is a line
 * in the log, as of requests to other routes, and a figure.
 */
@Injectable()
export class RefusedRequests {
  private readonly logger = new Logger('Request');

  constructor(private readonly metrics: Metrics) {}

  /** @param beganAt when it came, as `performance.now()` has it */
  refuse(response: HttpResponse, code: ProxyErrorCode, beganAt: number): void {
    const requestId = requestIdFor(response.req);
    const { status, send } = prepareRefusal(response, code, requestId);
    this.metrics.proxy.refused(code);
    const log = () => {
      const told = response.writableFinished ? status : CLIENT_GONE;
      const ms = performance.now() - beganAt;
      this.logger.log(lineOf({ requestId, method: response.req.method, route: ROUTE, status: told, ms }));
    };
    if (response.destroyed) return log();
    response.once('close', log);
    send();
  }
}
