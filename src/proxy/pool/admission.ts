import { Injectable } from '@nestjs/common';
import { LimitEnforcer } from '../../limits/limit-enforcer.js';
import type { Exceeded, Verdict } from '../../limits/limit-enforcer.js';
import type { AppliedLimits, Level } from '../../limits/rules/applied-limits.js';
import { Metrics } from '../../metrics/metrics.js';
import type { PoolUpstream } from '../../upstreams/upstreams.service.js';
import type { RejectionReason } from '../errors/proxy-error.js';
import type { Pool } from './pools.js';
import { upstreamsFor } from './routing.js';
import { generatesNothing } from '../request/model/generates-nothing.js';
import type { ProxiedRequest } from '../request/proxied-request.js';

const SHOWN_MODEL_LENGTH = 200;
const LISTING = 'GET /v1/models lists the models of this key';
const CONTROL_CHARACTERS = /\p{Cc}/gu;
const OF: Record<Level, string> = {
  organization: 'of the organization of this key',
  member: 'of the holder of this key',
  key: 'of this key',
};

/** Decides by model and limits which requests reach which upstreams. */
@Injectable()
export class Admission {
  constructor(
    private readonly limits: LimitEnforcer,
    private readonly metrics: Metrics,
  ) {}

  /** Checks the model of a request. @returns the reason for a rejection */
  checkModel(request: ProxiedRequest, pool: Pool): RejectionReason | undefined {
    const { limits } = request.key;
    const isLimited = limits?.areModelsRestricted === true;
    if (!isLimited && !pool.hasModelRules) return undefined;
    if (isUnclear(request)) return { code: 'invalid_request' };
    return isLimited ? this.checkAllowed(request, limits) : undefined;
  }

  /** Selects the upstreams that serve the model of a request. @returns the reason for a rejection if there are none */
  route({ fields }: ProxiedRequest, pool: Pool): readonly PoolUpstream[] | RejectionReason {
    const model = fields.requestedModel?.name;
    const upstreams = upstreamsFor(pool, model);
    if (upstreams.length > 0) return upstreams;
    return {
      code: 'model_not_found',
      message: `no upstream serves this model (${LISTING}): ${shown(model!)}`,
    };
  }

  /** Admits a request within its limits, and sets the headers of the limits. @returns the reason for a rejection */
  admit(request: ProxiedRequest): RejectionReason | undefined | Promise<RejectionReason | undefined> {
    const { limits } = request.key;
    if (!limits) return undefined;
    const verdict = this.limits.admit(limits);
    if (!(verdict instanceof Promise)) return this.apply(request, verdict);
    return verdict.then((later) => this.apply(request, later));
  }

  /** Checks budgets and tokens before a response of a connection starts. @returns the reason for a rejection */
  checkUse(limits: AppliedLimits): RejectionReason | undefined {
    const exceeded = this.limits.check(limits);
    return exceeded && this.toReason(exceeded);
  }

  /** Sets the headers of the limits of a request that is rejected before {@link admit}. */
  addLimitHeaders(request: ProxiedRequest): void {
    const { limits } = request.key;
    if (limits && request.limitHeaders.length === 0) request.limitHeaders = this.limits.headers(limits);
  }

  private checkAllowed(request: ProxiedRequest, limits: AppliedLimits): RejectionReason | undefined {
    const { requestedModel } = request.fields;
    if (!requestedModel && generatesNothing(request)) return undefined;
    return this.checkName(requestedModel?.name, limits);
  }

  /** Checks the name of a model against limits. @param name undefined if none is named */
  checkName(name: string | undefined, limits: AppliedLimits): RejectionReason | undefined {
    const forbidding = limits.findForbidding(name);
    if (!forbidding) return undefined;
    this.metrics.proxy.limited('models', forbidding.level);
    const model = name === undefined ? 'a request that names no model' : `the model ${shown(name)}`;
    const message = `the models limit ${OF[forbidding.level]} does not allow ${model}`;
    return { code: 'model_not_allowed', message };
  }

  private apply(request: ProxiedRequest, { exceeded, headers }: Verdict): RejectionReason | undefined {
    request.limitHeaders = headers;
    return exceeded && this.toReason(exceeded);
  }

  private toReason({ limit, level, retryAfterSeconds: seconds }: Exceeded): RejectionReason {
    this.metrics.proxy.limited(limit, level);
    const retryAfterSeconds = seconds ?? undefined;
    if (limit === 'budget') {
      const message = `the budget ${OF[level]} is used up; an admin can raise it`;
      return { code: 'budget_exceeded', message, retryAfterSeconds };
    }
    const wait = seconds === null ? '' : `; retry after ${seconds} s`;
    const message = `the limit ${limit}_per_minute ${OF[level]} is reached${wait}`;
    return { code: 'rate_limited', message, retryAfterSeconds };
  }
}

/** Whether upstreams may not agree on the model of a request. */
function isUnclear(request: ProxiedRequest): boolean {
  const { requestedModel, isModelUnclear } = request.fields;
  return isModelUnclear || (requestedModel?.place === 'form' && request.hasSecondFormModel());
}

/** Shortens a name for a message, without characters that would change the look of a log or a terminal. */
function shown(model: string): string {
  return model.replace(CONTROL_CHARACTERS, '').toWellFormed().slice(0, SHOWN_MODEL_LENGTH);
}
