import type { HttpResponse } from '../../http/http-exchange.js';
import type { PoolUpstream } from '../../upstreams/upstreams.service.js';
import type { RecordResult } from '../exchange/usage-record.js';
import type { ProxiedRequest } from '../request/proxied-request.js';
import { isForAnthropic, sendJson } from './own-response.js';
import { knownModel } from './upstream-models.js';

/**
 * Responds to `GET /v1/models/{model}` if the first upstream that serves the model has an exact rule for it.
 * @returns false if the upstream has to be queried
 */
export function respondWithModel(
  request: ProxiedRequest,
  response: HttpResponse,
  upstreams: readonly PoolUpstream[],
  recordResult: RecordResult,
): boolean {
  const { requestedModel } = request.fields;
  if (request.method !== 'GET' || requestedModel?.place !== 'path') return false;
  const model = knownModel(requestedModel.name, upstreams, isForAnthropic(request.upstreamHeaderLines()));
  if (!model) return false;
  const ending = { status: 200, outcome: 'ok', attempts: [], isStream: false } as const;
  recordResult(request, ending, () => sendJson(request, response, [Buffer.from(JSON.stringify(model))]));
  return true;
}
