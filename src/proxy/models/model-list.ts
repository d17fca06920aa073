import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { KeyedSemaphore, Semaphore } from '../../common/async/semaphore.js';
import type { HttpResponse } from '../../http/http-exchange.js';
import { CLIENT_GONE_STATUS } from '../../metrics/request-observer.js';
import type { Attempt } from '../exchange/attempt.js';
import { ANTHROPIC_VERSION_LINE, ModelListRequest } from './model-list-request.js';
import { MergedModels, parseModels } from './merged-models.js';
import { prepareRejection } from '../errors/prepared-rejection.js';
import type { ProxiedRequest, Responder } from '../request/proxied-request.js';
import type { Target, Targets } from '../pool/targets.js';
import { UpstreamConnections } from '../wire/upstream-connections.js';
import type { RecordResult } from '../exchange/usage-record.js';
import { requestIdHeaders, mergeSetHeaders, VARY } from '../wire/wire-headers.js';

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

/** Responds to `GET /v1/models` with the merged lists of the first 50 upstreams of a pool. */
@Injectable()
export class ModelList {
  private readonly semaphores = new KeyedSemaphore<number>(
    () => new Semaphore(MAX_CONCURRENT_LISTS, WAIT_TIMEOUT_MS, () => new TooManyLists()),
  );

  constructor(private readonly connections: UpstreamConnections) {}

  respond(
    request: ProxiedRequest,
    response: HttpResponse,
    targets: Targets,
    recordResult: RecordResult,
  ): void {
    const listing = new Listing(request, response, recordResult);
    request.responder = listing;
    const closed = new Promise<void>((resolve) => response.on('close', resolve));
    const list = async () => {
      if (response.destroyed) return;
      await listing.run(targets, this.connections);
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
    private readonly recordResult: RecordResult,
  ) {}

  async run(targets: Targets, connections: UpstreamConnections): Promise<void> {
    const lines = this.request.upstreamHeaderLines();
    const all = [...remaining(targets)];
    this.requests = all.map((target) => new ModelListRequest(target, lines, connections));
    const bodies = await Promise.all(this.requests.map((request) => request.send()));
    const { merged, hasFailed, firstIndex } = await this.merge(bodies, ANTHROPIC_VERSION_LINE.test(lines));
    if (this.response.destroyed) return;
    const attempt = this.requests[firstIndex]?.attempt;
    if (attempt) this.send(merged.toJson(), attempt);
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
    const { status, send } = prepareRejection(this.response, code, this.request.id);
    const ending = { status, outcome, attempts, attempt: attempts.at(-1), isStream: false } as const;
    this.recordResult(this.request, ending, send);
  }

  private get attempts(): Attempt[] {
    return this.requests.map(({ attempt }) => attempt);
  }

  /** Yields to other requests between two steps. Drops each body after parsing, to bound the memory. */
  private async merge(bodies: (Buffer | undefined)[], anthropic: boolean): Promise<MergeResult> {
    const result: MergeResult = { merged: new MergedModels(anthropic), hasFailed: false, firstIndex: -1 };
    for (let i = 0; i < bodies.length && !this.response.destroyed; i++) {
      const body = bodies[i];
      bodies[i] = undefined;
      const models = body && parseModels(body);
      if (!models) continue;
      try {
        for (let from = 0; from < models.length; from += MODELS_PER_TURN) {
          result.merged.add(models.slice(from, from + MODELS_PER_TURN));
          await nextTurn();
        }
        if (result.firstIndex < 0) result.firstIndex = i;
      } catch {
        result.hasFailed = true;
      }
    }
    return result;
  }

  private send(body: readonly Buffer[], attempt: Attempt): void {
    const { request, response, attempts } = this;
    const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
    this.recordResult(request, { status: 200, outcome: 'ok', attempts, attempt, isStream: false }, () => {
      if (response.destroyed) return;
      const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(length)];
      headers.push('vary', VARY, ...requestIdHeaders(request.id));
      response.writeHead(200, mergeSetHeaders(response, headers));
      for (const chunk of body) response.write(chunk);
      response.end();
    });
  }
}

interface MergeResult {
  readonly merged: MergedModels;
  /** Whether a list could be parsed but not be serialized. */
  hasFailed: boolean;
  /** Index of the first upstream whose list was merged; -1 if there is none. */
  firstIndex: number;
}

function* remaining(targets: Targets): Generator<Target> {
  for (let target = targets.next(); target; target = targets.next()) yield target;
}
