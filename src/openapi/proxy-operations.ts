import { PROXY_ERROR_CODES, createRejection } from '../proxy/errors/proxy-error.js';
import type { ProxyErrorCode, ProxyRejection } from '../proxy/errors/proxy-error.js';
import { headers, RATE_LIMIT_HEADERS } from './headers.js';
import type { Json } from './json-schema.js';
import { describeConnectionRejections } from './responses.js';

/** Methods of `/v1`, which is not a Nest route. Apart from rejections, its responses come from the upstream. */
const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const;
const SECURITY = [{ proxyKey: [] }, { proxyKeyAsXApiKey: [] }, { proxyKeyAsApiKey: [] }];

const REQUEST_ID = '6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11';

export const PROXY_SCHEMAS: Json = {
  ProxyError: {
    type: 'object',
    required: ['type', 'error', 'request_id'],
    description: 'Error format that both the OpenAI and the Anthropic SDKs can parse.',
    properties: {
      type: { type: 'string', enum: ['error'] },
      error: {
        type: 'object',
        required: ['type', 'message', 'code', 'param'],
        properties: {
          type: { type: 'string', examples: ['authentication_error'] },
          message: { type: 'string', examples: ['invalid proxy key: it is unknown, expired or revoked'] },
          code: { type: 'string', enum: PROXY_ERROR_CODES, examples: ['invalid_proxy_key'] },
          param: { type: ['string', 'null'], description: 'Always null.', examples: [null] },
        },
      },
      request_id: { type: 'string', examples: [REQUEST_ID] },
    },
  },
  ModelList: {
    type: 'object',
    required: ['data'],
    description: 'In the format of OpenAI, or of Anthropic if the request has an `anthropic-version` header.',
    properties: {
      object: { type: 'string', examples: ['list'] },
      data: {
        type: 'array',
        items: {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'string', examples: ['gpt-5'] } },
          additionalProperties: true,
        },
      },
    },
    additionalProperties: true,
  },
};

/** Describes the paths of the proxy. */
export function proxyPaths(): Record<string, Json> {
  return {
    '/v1/models': { get: modelsOperation() },
    '/v1/{path}': Object.fromEntries(METHODS.map((method) => [method, relayOperation(method)])),
  };
}

function modelsOperation(): Json {
  return {
    operationId: 'listModels',
    summary: 'List the models of all upstreams',
    tags: ['Proxy'],
    description:
      'Merges the lists of the first 50 enabled upstreams of the owner, in their order. If two models have the same id, ' +
      'the first one is listed.',
    security: SECURITY,
    parameters: [
      { name: 'anthropic-version', in: 'header', schema: { type: 'string', examples: ['2023-06-01'] } },
    ],
    responses: {
      200: {
        description: 'The models.',
        headers: { ...headers(ID_HEADERS), ...RATE_LIMIT_HEADERS },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/ModelList' },
            example: { object: 'list', data: [{ id: 'gpt-5', object: 'model' }] },
          },
        },
      },
      ...describeConnectionRejections(),
      ...describeRejections(MODELS_CODES, ownResponse),
    },
  };
}

function relayOperation(method: string): Json {
  const hasBody = ['post', 'put', 'patch'].includes(method);
  return {
    operationId: `${method}ThroughProxy`,
    summary: 'Relay a request to the first upstream that responds',
    description:
      'Body, status and content type are relayed unchanged in both directions. The next upstream is tried after a network ' +
      'error, a redirect, a status of 500 or more, a status in `failover_on` of the upstream, or a stream that begins ' +
      'with an error. A stream that its upstream interrupts ends with an error event with the code ' +
      '`stream_interrupted`. `TRACE` is rejected with 405 `method_not_allowed`.',
    tags: ['Proxy'],
    security: SECURITY,
    parameters: [
      {
        name: 'path',
        in: 'path',
        required: true,
        description: 'May contain slashes.',
        schema: { type: 'string', examples: ['chat/completions'] },
      },
    ],
    ...(hasBody
      ? { requestBody: { content: { 'application/json': { schema: {}, example: CHAT }, ...ANY_TYPE } } }
      : {}),
    responses: {
      '2XX': { description: 'Response of the upstream.', ...RELAYED },
      default: { description: 'Any other response of the upstream.', ...RELAYED },
      ...describeConnectionRejections(),
      ...describeRejections(RELAY_CODES, ownOrUpstreamResponse),
    },
  };
}

const CHAT = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello!' }] };

/** Anthropic's SDK reads `Request-Id`; {@link headers} adds `X-Request-Id`. */
const ID_HEADERS = ['Request-Id'];
const ANY_TYPE: Json = { '*/*': { schema: {} } };
const RELAYED: Json = { headers: { ...headers(ID_HEADERS), ...RATE_LIMIT_HEADERS }, content: ANY_TYPE };
const OWN_ERROR = { $ref: '#/components/schemas/ProxyError' };
/** Most upstreams also reject with JSON, in their own format. */
const OWN_OR_UPSTREAM_ERROR = {
  anyOf: [
    OWN_ERROR,
    { type: 'object', additionalProperties: true, description: 'In the format of the upstream.' },
  ],
};

/** Codes without a status in this document: OpenAPI paths have no `TRACE` here, and a stream event has no status. */
const WITHOUT_STATUS: readonly ProxyErrorCode[] = ['method_not_allowed', 'stream_interrupted'];
const RELAY_CODES = PROXY_ERROR_CODES.filter((code) => !WITHOUT_STATUS.includes(code));
/** The list of models has a fixed path, and does not report the timeout of an upstream. */
const MODELS_CODES = RELAY_CODES.filter((code) => code !== 'not_found' && code !== 'upstream_timeout');

function describeRejections(
  codes: readonly ProxyErrorCode[],
  response: (rejections: readonly ProxyRejection[]) => Json,
): Json {
  const all = codes.map((code) => createRejection({ code }, REQUEST_ID));
  const statuses = [...new Set(all.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => [status, response(all.filter((other) => other.status === status))]),
  );
}

interface OwnResponse extends Json {
  readonly description: string;
  readonly content: Record<string, Json>;
}

function ownResponse(rejections: readonly ProxyRejection[]): OwnResponse {
  const errors = rejections.map(({ body }) => body);
  return {
    description: errors.map(({ error }) => `- \`${error.code}\`: ${error.message}`).join('\n'),
    headers: { ...headers(ID_HEADERS, rejections.flatMap(headerNames)), ...RATE_LIMIT_HEADERS },
    content: {
      'application/json': {
        schema: OWN_ERROR,
        examples: Object.fromEntries(errors.map((body) => [body.error.code, { value: body }])),
      },
    },
  };
}

/** Header names in their usual spelling: `WWW-Authenticate`, `X-Should-Retry`. */
function headerNames({ headers }: ProxyRejection): string[] {
  const names = headers.filter((_, i) => i % 2 === 0);
  return names.map((name) => name.replace(/^www|\b[a-z]/g, (start) => start.toUpperCase()));
}

/** Adds the upstream's response, because the last upstream may respond with any status. */
function ownOrUpstreamResponse(rejections: readonly ProxyRejection[]): Json {
  const { description, content, ...rest } = ownResponse(rejections);
  const json = { ...content['application/json'], schema: OWN_OR_UPSTREAM_ERROR };
  return {
    ...rest,
    description: `${description}\n- or the response of the upstream, unchanged`,
    content: { 'application/json': json, ...ANY_TYPE },
  };
}
