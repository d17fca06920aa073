import { isKeySecret } from '../../keys/key-format.js';
import { credentialHeader } from '../../upstreams/provider.js';
import { parseEndpoint, pathAt, parseRequestTarget } from '../../upstreams/target-url.js';
import type { EndpointUrl, RequestTarget } from '../../upstreams/target-url.js';
import type { ModelRules } from '../../upstreams/models/model-rules.js';
import type { PoolUpstream } from '../../upstreams/upstreams.service.js';
import { LOOP_HEADER, LOOP_TOKEN } from '../request/loop-detection.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import type { RequestFields } from '../request/model/request-fields.js';
import { replacePathModel, replaceQueryModel } from '../request/model/requested-model.js';
import type { RequestedModel } from '../request/model/requested-model.js';
import type { WireRequest } from '../wire/upstream-connection.js';

/** Sent only to upstreams whose key is a proxy key: no other upstream leads to a mintkeep. */
const LOOP_LINE = `${LOOP_HEADER}: ${LOOP_TOKEN}\r\n`;

/** Edits of a request target that names its model. */
const REPLACE_MODEL: Partial<Record<RequestedModel['place'], (target: string, model: string) => string>> = {
  path: replacePathModel,
  query: replaceQueryModel,
};

/** Iterates over the targets of one request in the order of the attempts. Computes each target on demand. */
export class Targets {
  private position = 0;

  private constructor(
    private readonly upstreams: readonly PoolUpstream[],
    private readonly requestTarget: RequestTarget,
    private readonly model: RequestedModel | undefined,
    private readonly limit: number,
  ) {}

  /**
   * @param upstreams at least one, in the order of the attempts
   * @param limit maximum number of targets
   * @returns undefined for a request target that leads to no upstream
   */
  static create(
    upstreams: readonly PoolUpstream[],
    { requestTarget, fields: { requestedModel } }: RoutedRequest,
    limit: number,
  ): Targets | undefined {
    const end = Math.min(limit, upstreams.length);
    return requestTarget && new Targets(upstreams, requestTarget, requestedModel, end);
  }

  /** @returns undefined after the last target that the limit allows */
  next(): Target | undefined {
    if (this.position === this.limit) return undefined;
    const upstream = this.upstreams[this.position++]!;
    const endpoint = getEndpoint(upstream);
    const { id, organizationId, name, provider, failoverOn, origin, upstreamLines } = endpoint;
    const upstreamModel =
      upstream.rules && this.model ? upstreamModelOf(upstream.rules, this.model.name) : null;
    const path = pathAt(endpoint, this.targetFor(upstreamModel));
    const { rules } = upstream;
    return {
      id,
      organizationId,
      name,
      provider,
      failoverOn,
      origin,
      path,
      upstreamLines,
      upstreamModel,
      rules,
    };
  }

  private targetFor(upstreamModel: string | null): RequestTarget {
    const { requestTarget, model } = this;
    const replace = model && REPLACE_MODEL[model.place];
    if (upstreamModel === null || !replace) return requestTarget;
    return parseRequestTarget(replace(requestTarget.target, upstreamModel)) ?? requestTarget;
  }
}

/** Address of a request at one upstream, and the upstream's credential. Must not be logged. */
export interface Target {
  readonly id: number;
  readonly organizationId: number;
  readonly name: string;
  readonly provider: string;
  /** Statuses below 500 that count as failures. */
  readonly failoverOn: readonly number[];
  /** Name of the model at the upstream; null for the name that the client requested. */
  readonly upstreamModel: string | null;
  /** Model rules of the upstream; null if it serves every model. */
  readonly rules: ModelRules | null;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** `Host` and the credential, each with its line end. */
  readonly upstreamLines: string;
}

/**
 * Endpoints by upstream. An entry expires together with the upstream object, whose key may change. The cache contains
 * no path: paths are chosen by clients and would make it grow without limit.
 */
const endpoints = new WeakMap<PoolUpstream, Endpoint>();

function getEndpoint(upstream: PoolUpstream): Endpoint {
  const cached = endpoints.get(upstream);
  if (cached) return cached;
  const { id, organizationId, name, provider, failoverOn, baseUrl, apiKey } = upstream;
  const url = parseEndpoint(baseUrl);
  const host = url.origin.slice(url.origin.indexOf('//') + 2);
  const [[header, value] = ['', '']] = Object.entries(credentialHeader(provider, apiKey));
  const upstreamLines = `host: ${host}\r\n${header}: ${value}\r\n${isKeySecret(apiKey) ? LOOP_LINE : ''}`;
  const endpoint = { ...url, id, organizationId, name, provider, failoverOn, upstreamLines };
  endpoints.set(upstream, endpoint);
  return endpoint;
}

/** Part of a {@link Target} that all requests share. */
interface Endpoint extends EndpointUrl, Omit<Target, 'path' | 'origin' | 'upstreamModel' | 'rules'> {}

/** Request whose upstreams are chosen. */
export type RoutedRequest = Pick<ProxiedRequest, 'requestTarget' | 'fields'>;

function upstreamModelOf(rules: ModelRules, model: string): string | null {
  const upstreamModel = rules.find(model)?.toUpstream(model) ?? model;
  return upstreamModel === model ? null : upstreamModel;
}

/** Providers that report the usage of every stream. Mistral rejects the option (422, `extra_forbidden`). */
const ALWAYS_REPORT_USAGE = new Set(['mistral', 'openrouter']);

/** Whether the body for this upstream gets a usage option that the client did not send. */
export function addsUsageOption({ provider }: Target, { usageEdit }: RequestFields): boolean {
  return usageEdit !== undefined && !ALWAYS_REPORT_USAGE.has(provider);
}

const BODILESS_METHODS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** Builds the request for an upstream. @param lines header lines of the client */
export function createWireRequest(target: Target, method: string, lines: string, body: Buffer): WireRequest {
  const hasLength = body.length > 0 || !BODILESS_METHODS.has(method);
  const length = hasLength ? `content-length: ${body.length}\r\n` : '';
  return {
    method,
    headers: `${method} ${target.path} HTTP/1.1\r\n${target.upstreamLines}${lines}${length}\r\n`,
    body,
  };
}
