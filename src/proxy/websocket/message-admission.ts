import type { AppliedLimits } from '../../limits/rules/applied-limits.js';
import type { ModelRules } from '../../upstreams/models/model-rules.js';
import type { RejectionReason } from '../errors/proxy-error.js';
import type { Admission } from '../pool/admission.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { findMessageModels, readClientMessage } from './message-models.js';
import type { ClientMessage } from './message-models.js';

/** OpenAI's Realtime API, whose query names the model of all responses. */
const REALTIME = /^\/v1\/realtime\/?$/;

/** Decides by models, budgets and tokens which messages of a client reach the upstream. */
export class MessageAdmission {
  /** Whether a client has named the model of its responses. */
  private isModelNamed: boolean;
  private readonly isRealtime: boolean;

  /** @param rules model rules of the upstream; null if it serves every model */
  constructor(
    private readonly request: ProxiedRequest,
    private readonly rules: ModelRules | null,
    private readonly admission: Admission,
  ) {
    this.isRealtime = REALTIME.test(request.path);
    this.isModelNamed = this.queryModel !== undefined;
  }

  /** Model that the query names for all responses. */
  get queryModel(): string | undefined {
    return this.isRealtime ? this.request.fields.requestedModel?.name : undefined;
  }

  /** @returns the reason for which the message must not be passed on */
  check(data: Buffer): RejectionReason | undefined {
    const { limits } = this.request.key;
    const message = readClientMessage(data);
    const wrongModel = limits?.areModelsRestricted ? this.checkModels(data, message, limits) : undefined;
    if (wrongModel || !message?.startsResponse) return wrongModel;
    if (message.model !== undefined && !this.isRealtime) this.isModelNamed = true;
    return this.checkRules(message) ?? (limits && this.admission.checkUse(limits));
  }

  /**
   * Checks a response that begins. Upstreams start some of their own accord.
   * @param model model that the upstream names
   */
  checkResponse(model: string | null): RejectionReason | undefined {
    const { limits } = this.request.key;
    if (!limits?.areModelsRestricted || this.isModelNamed) return undefined;
    return this.admission.checkName(model ?? undefined, limits);
  }

  private checkModels(
    data: Buffer,
    message: ClientMessage | undefined,
    limits: AppliedLimits,
  ): RejectionReason | undefined {
    const names = message && findMessageModels(data.toString('utf8'));
    if (!names) return { code: 'invalid_request' };
    for (const name of names) {
      const reason = this.admission.checkName(name, limits);
      if (reason) return reason;
    }
    const isUnnamed =
      message.startsResponse && (this.isRealtime ? this.queryModel : message.model) === undefined;
    return isUnnamed ? this.admission.checkName(undefined, limits) : undefined;
  }

  /** The upstream gets messages as they are, so a rule must not give the model another name. */
  private checkRules({ model }: ClientMessage): RejectionReason | undefined {
    if (!this.rules || this.isRealtime || model === undefined) return undefined;
    const isServed = this.rules.find(model)?.toUpstream(model) === model;
    return isServed ? undefined : { code: 'model_not_found' };
  }
}
