import { Injectable } from '@nestjs/common';
import type { HttpResponse } from '../../http/http-exchange.js';
import { LimitEnforcer } from '../../limits/limit-enforcer.js';
import { Metrics } from '../../metrics/metrics.js';
import type { ProxyMetrics } from '../../metrics/proxy-metrics.js';
import { CLIENT_GONE_STATUS } from '../../metrics/request-observer.js';
import type { UsageOutcome } from '../../usage/record/usage-record.js';
import { UsageRecorder } from '../../usage/write/usage-recorder.js';
import { prepareRejection } from '../errors/prepared-rejection.js';
import type { ProxyErrorCode, RejectionReason } from '../errors/proxy-error.js';
import { Admission } from '../pool/admission.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { toUsageRecord } from './usage-record.js';
import type { ExchangeResult, RecordResult } from './usage-record.js';

const UNTRIED = { attempts: [], isStream: false } as const;
const CLIENT_GONE: ExchangeResult = { ...UNTRIED, status: CLIENT_GONE_STATUS, outcome: 'client_gone' };

/** Records the results of requests as usage, against limits and in metrics. Sends rejections, which are results too. */
@Injectable()
export class ResultRecorder {
  constructor(
    private readonly admission: Admission,
    private readonly enforcer: LimitEnforcer,
    private readonly recorder: UsageRecorder,
    private readonly metrics: Metrics,
  ) {}

  /** Records a request. Later calls for the same request have no effect. */
  readonly record: RecordResult = (request, result, onRecorded = noop) => {
    if (request.isRecorded) return;
    request.isRecorded = true;
    const record = toUsageRecord(request, result);
    this.recorder.record(record, onRecorded);
    if (request.key.limits && !result.countedCost)
      this.enforcer.record(request.key.limits, record.total_tokens, record.cost_usd);
    updateMetrics(this.metrics.proxy, request, result); // last, so that no client waits for it
  };

  /** Records a request whose client left before an upstream was tried. */
  recordClientGone(request: ProxiedRequest): void {
    this.record(request, CLIENT_GONE);
  }

  /** Rejects a request that no upstream was tried for: records it, then sends the rejection. */
  reject(
    response: HttpResponse,
    request: ProxiedRequest,
    reason: ProxyErrorCode | RejectionReason,
    outcome: UsageOutcome,
  ): void {
    request.releaseBody();
    const rejection = typeof reason === 'string' ? { code: reason } : reason;
    this.admission.addLimitHeaders(request);
    const { status, send } = prepareRejection(response, rejection, request.id, request.limitHeaders);
    this.record(request, { ...UNTRIED, status, outcome }, send);
  }
}

function updateMetrics(metrics: ProxyMetrics, { beganAt }: ProxiedRequest, result: ExchangeResult): void {
  const { attempt, attempts, outcome, firstContentAt } = result;
  metrics.finished(attempt?.target ?? null, outcome);
  for (const { target, error } of attempts) metrics.attempted(target.provider, error ?? 'ok');
  if (attempt && firstContentAt !== undefined) {
    metrics.firstByte(attempt.target.provider, (firstContentAt - beganAt) / 1_000);
  }
}

function noop(): void {
  // the client has closed the connection: there is nothing to send
}
