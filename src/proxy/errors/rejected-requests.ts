import { Injectable, Logger } from '@nestjs/common';
import type { HttpResponse } from '../../http/http-exchange.js';
import { requestIdFor } from '../../common/api/request-id.js';
import { Metrics } from '../../metrics/metrics.js';
import { CLIENT_GONE_STATUS, lineOf } from '../../metrics/request-observer.js';
import { prepareRejection } from './prepared-rejection.js';
import type { ProxyErrorCode } from './proxy-error.js';

const ROUTE = '/v1/*';

/**
 * Rejects requests whose key check fails. They have no owner and thus no usage record: a log line and a metric record
 * them instead.
 */
@Injectable()
export class RejectedRequests {
  private readonly logger = new Logger('Request');

  constructor(private readonly metrics: Metrics) {}

  /** @param beganAt time of arrival, by `performance.now()` */
  reject(response: HttpResponse, code: ProxyErrorCode, beganAt: number): void {
    const requestId = requestIdFor(response.req);
    const { status, send } = prepareRejection(response, { code }, requestId);
    this.metrics.proxy.keyRejected(code);
    const log = () => {
      const delivered = response.writableFinished ? status : CLIENT_GONE_STATUS;
      const ms = performance.now() - beganAt;
      this.logger.log(
        lineOf({ requestId, method: response.req.method, route: ROUTE, status: delivered, ms }),
      );
    };
    if (response.destroyed) return log();
    response.once('close', log);
    send();
  }
}
