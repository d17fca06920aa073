import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { KeyedSemaphore, Semaphore } from '../../common/async/semaphore.js';
import type { HttpResponse } from '../../http/http-exchange.js';
import { CLIENT_GONE_STATUS } from '../../metrics/request-observer.js';
import type { PoolUpstream } from '../../upstreams/upstreams.service.js';
import type { Attempt } from '../exchange/attempt.js';
import { ModelListRequest } from './model-list-request.js';
import { MergedModels, parseModels } from './merged-models.js';
import type { ListedModel } from './merged-models.js';
import { isForAnthropic, sendJson } from './own-response.js';
import { isQueried, modelsOf } from './upstream-models.js';
import { prepareRejection } from '../errors/prepared-rejection.js';
import type { ProxiedRequest, Responder } from '../request/proxied-request.js';
import { Targets } from '../pool/targets.js';
import type { Target } from '../pool/targets.js';
import { UpstreamConnections } from '../wire/upstream-connections.js';
import type { RecordResult } from '../exchange/usage-record.js';

/** Time that upstreams have for their lists, unless a test sets another one. */
export const LIST_TIMEOUT_MS = 3_000;
/** Maximum number of upstreams per list. All are requested at once, so that slow ones delay the list only once. */
export const MAX_LISTED_UPSTREAMS = 50;
/**
 * Concurrent lists of one organization, until their responses are sent: each may hold 50 bodies of 1 MiB. The limit is
 * per organization, so that no organization waits for the slow upstreams or clients of another.
 */
export const MAX_CONCURRENT_LISTS = 2;
export const WAIT_TIMEOUT_MS = 30_000;
/** Number of models that are serialized in one turn of the event loop. */
const MODELS_PER_TURN = 1_000;

/** Whether the request is for the model list, which is merged from the lists of all upstreams. */
export function isModelList({ method, path }: ProxiedRequest): boolean {
  return method === 'GET' && (path === '/v1/models' || path === '/v1/models/');
}

/** Responds to `GET /v1/models` with the merged models of a pool. At most 50 upstreams are queried. */
@Injectable()
export class ModelList {
  timeoutMs = LIST_TIMEOUT_MS;
  private readonly semaphores = new KeyedSemaphore<number>(
    () => new Semaphore(MAX_CONCURRENT_LISTS, WAIT_TIMEOUT_MS, () => new TooManyLists()),
  );

  constructor(private readonly connections: UpstreamConnections) {}

  /** @param upstreams in the order of the list */
  respond(
    request: ProxiedRequest,
    response: HttpResponse,
    upstreams: readonly PoolUpstream[],
    recordResult: RecordResult,
  ): void {
    const listing = new Listing(request, response, upstreams, recordResult);
    request.responder = listing;
    const closed = new Promise<void>((resolve) => response.on('close', resolve));
    const list = async () => {
      if (response.destroyed) return;
      await listing.run(this.connections, this.timeoutMs);
      await closed;
    };
    this.semaphores.run(request.key.organizationId, list).catch((error: unknown) => {
      listing.reject(error instanceof TooManyLists ? 'rate_limited' : 'upstream_error');
    });
  }
}

class TooManyLists extends Error {}

/** State of one request for the merged list. */
class Listing implements Responder {
  private requests: readonly ModelListRequest[] = [];

  constructor(
    private readonly request: ProxiedRequest,
    private readonly response: HttpResponse,
    private readonly upstreams: readonly PoolUpstream[],
    private readonly recordResult: RecordResult,
  ) {}

  async run(connections: UpstreamConnections, timeoutMs: number): Promise<void> {
    const lines = this.request.upstreamHeaderLines();
    const targets = Targets.create(this.upstreams.filter(isQueried), this.request, MAX_LISTED_UPSTREAMS);
    const all = [...remaining(targets)];
    this.requests = all.map((target) => new ModelListRequest(target, lines, connections, timeoutMs));
    const bodies = await Promise.all(this.requests.map((request) => request.send()));
    const { merged, hasFailed, firstIndex } = await this.merge(bodies, isForAnthropic(lines));
    if (this.response.destroyed) return;
    const isListed = firstIndex >= 0 || !merged.isEmpty || all.length === 0;
    if (isListed) this.send(merged.toJson(), this.requests[firstIndex]?.attempt);
    else this.reject(hasFailed ? 'upstream_error' : 'upstream_unreachable');
  }

  onResponseClose(): void {
    for (const request of this.requests) request.cancel();
    const { attempts } = this;
    const ending = { status: CLIENT_GONE_STATUS, outcome: 'client_gone', attempts, isStream: false } as const;
    this.recordResult(this.request, ending);
  }

  reject(code: 'rate_limited' | 'upstream_error' | 'upstream_unreachable'): void {
    const { attempts } = this;
    const outcome = code === 'rate_limited' ? 'client_error' : 'upstream_error';
    const { status, send } = prepareRejection(
      this.response,
      { code },
      this.request.id,
      this.request.limitHeaders,
    );
    const ending = { status, outcome, attempts, attempt: attempts.at(-1), isStream: false } as const;
    this.recordResult(this.request, ending, send);
  }

  private get attempts(): Attempt[] {
    return this.requests.map(({ attempt }) => attempt);
  }

  /** Yields to other requests between two steps. Drops each body after parsing, to bound the memory. */
  private async merge(bodies: (Buffer | undefined)[], anthropic: boolean): Promise<MergeResult> {
    const result: MergeResult = { merged: new MergedModels(anthropic), hasFailed: false, firstIndex: -1 };
    let queried = 0;
    for (const upstream of this.upstreams) {
      if (this.response.destroyed) break;
      const index = isQueried(upstream) ? queried++ : -1;
      const own = takeModels(bodies, index);
      if (own || upstream.rules) await this.mergeOne(upstream, own, index, result);
    }
    return result;
  }

  private async mergeOne(
    upstream: PoolUpstream,
    own: readonly ListedModel[] | undefined,
    index: number,
    result: MergeResult,
  ): Promise<void> {
    try {
      await this.add(modelsOf(upstream, own ?? [], result.merged.anthropic), result.merged);
      if (own && result.firstIndex < 0) result.firstIndex = index;
    } catch {
      result.hasFailed = true;
    }
  }

  private async add(models: Iterable<ListedModel>, merged: MergedModels): Promise<void> {
    const { limits } = this.request.key;
    let turn: ListedModel[] = [];
    for (const model of models) {
      if (limits?.findForbidding(model.id)) continue; // the key may not use the model
      if (turn.push(model) < MODELS_PER_TURN) continue;
      merged.add(turn);
      turn = [];
      await nextTurn();
    }
    merged.add(turn);
    await nextTurn();
  }

  private send(body: readonly Buffer[], attempt: Attempt | undefined): void {
    const { request, attempts } = this;
    const ending = { status: 200, outcome: 'ok', attempts, attempt, isStream: false } as const;
    this.recordResult(request, ending, () => sendJson(request, this.response, body));
  }
}

/** Parses a body and drops it. @returns undefined if there is no body, or it is not a list */
function takeModels(bodies: (Buffer | undefined)[], index: number): ListedModel[] | undefined {
  const body = bodies[index];
  if (body) bodies[index] = undefined;
  return body && parseModels(body);
}

interface MergeResult {
  readonly merged: MergedModels;
  /** Whether a list could be parsed but not be serialized. */
  hasFailed: boolean;
  /** Index of the first upstream whose list was merged; -1 if there is none. */
  firstIndex: number;
}

function* remaining(targets: Targets | undefined): Generator<Target> {
  for (let target = targets?.next(); target; target = targets?.next()) yield target;
}
