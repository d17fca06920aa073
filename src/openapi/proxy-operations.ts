import { PROXY_ERROR_CODES, proxyRefusal } from '../proxy/proxy-error.js';
import type { ProxyErrorCode, ProxyRefusal } from '../proxy/proxy-error.js';
import { headers } from './headers.js';
import type { Json } from './json-schema.js';

/** `/v1` is no route of Nest's: what passes there is the upstream's, and only refusals are ours. */
const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const;
const SECURITY = [{ proxyKey: [] }, { proxyKeyAsXApiKey: [] }, { proxyKeyAsApiKey: [] }];

const REQUEST_ID = '6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11';

export const PROXY_SCHEMAS: Json = {
  ProxyError: {
    ...{ type: 'object', required: ['type', 'error', 'request_id'] },
    description: 'What the OpenAI and the Anthropic SDKs parse alike.',
    properties: {
      type: { type: 'string', enum: ['error'] },
      error: {
        ...{ type: 'object', required: ['type', 'message', 'code', 'param'] },
        properties: {
          type: { type: 'string', examples: ['authentication_error'] },
          message: { type: 'string', examples: ['the proxy key is not valid'] },
          code: { type: 'string', enum: PROXY_ERROR_CODES, examples: ['invalid_proxy_key'] },
          param: { type: 'null' },
        },
      },
      request_id: { type: 'string', examples: [REQUEST_ID] },
    },
  },
  ModelList: {
    ...{ type: 'object', required: ['data'] },
    description: 'As OpenAI has it; with an `anthropic-version` header, as Anthropic has it.',
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

/** The paths of the proxy. */
export function proxyPaths(): Record<string, Json> {
  return {
    '/v1/models': { get: models() },
    '/v1/{path}': Object.fromEntries(METHODS.map((method) => [method, passOn(method)])),
  };
}

function models(): Json {
  return {
    ...{ operationId: 'listModels', summary: 'List the models of all upstreams', tags: ['Proxy'] },
    description: 'Of the enabled upstreams of the owner, in their order; of two with one id, the first.',
    security: SECURITY,
    parameters: [
      { name: 'anthropic-version', in: 'header', schema: { type: 'string', examples: ['2023-06-01'] } },
    ],
    responses: {
      200: {
        ...{ description: 'The models.', headers: headers(ID_HEADERS) },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/ModelList' },
            example: { object: 'list', data: [{ id: 'gpt-5', object: 'model' }] },
          },
        },
      },
      ...refusals(OF_MODELS, ours),
    },
  };
}

function passOn(method: string): Json {
  const hasBody = ['post', 'put', 'patch'].includes(method);
  return {
    operationId: `${method}ThroughProxy`,
    summary: 'Pass a request on to the first upstream that answers',
    description:
      'Body, status and content type pass unchanged both ways. The next upstream is tried on network errors and ' +
      'statuses of 500 and more, never on others. A stream that its upstream cuts off ends with an error event of code ' +
      '`stream_interrupted`. `TRACE` is refused: 405 `method_not_allowed`.',
    ...{ tags: ['Proxy'], security: SECURITY },
    parameters: [
      {
        ...{ name: 'path', in: 'path', required: true },
        description: 'May have slashes.',
        schema: { type: 'string', examples: ['chat/completions'] },
      },
    ],
    ...(hasBody
      ? { requestBody: { content: { 'application/json': { schema: {}, example: CHAT }, ...ANYTHING } } }
      : {}),
    responses: {
      '2XX': { description: 'What the upstream answered.', ...PASSED_ON },
      default: { description: 'What else the upstream answered.', ...PASSED_ON },
      ...refusals(OF_OTHERS, oursOrTheirs),
    },
  };
}

const CHAT = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello!' }] };

/** The second one is for the SDK of Anthropic. */
const ID_HEADERS = ['Request-Id'];
const ANYTHING: Json = { '*/*': { schema: {} } };
const PASSED_ON: Json = { headers: headers(ID_HEADERS), content: ANYTHING };
const OURS = { $ref: '#/components/schemas/ProxyError' };
/** Most upstreams refuse with JSON, too, in a form of their own. */
const OURS_OR_THEIRS = {
  anyOf: [OURS, { type: 'object', additionalProperties: true, description: 'As the upstream has it.' }],
};

/** What no answer is refused with: `TRACE` has no place here, and an event within a stream has no status. */
const NOT_HERE: readonly ProxyErrorCode[] = ['method_not_allowed', 'stream_interrupted'];
const OF_OTHERS = PROXY_ERROR_CODES.filter((code) => !NOT_HERE.includes(code));
/** The list of models asks upstreams itself, and in one go. */
const OF_MODELS = OF_OTHERS.filter((code) => code !== 'not_found' && code !== 'upstream_timeout');

function refusals(
  codes: readonly ProxyErrorCode[],
  response: (refusals: readonly ProxyRefusal[]) => Json,
): Json {
  const all = codes.map((code) => proxyRefusal(code, REQUEST_ID));
  const statuses = [...new Set(all.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => [status, response(all.filter((other) => other.status === status))]),
  );
}

interface OwnRefusal extends Json {
  readonly description: string;
  readonly content: Record<string, Json>;
}

function ours(refusals: readonly ProxyRefusal[]): OwnRefusal {
  const errors = refusals.map(({ body }) => body);
  return {
    description: errors.map(({ error }) => `- \`${error.code}\`: ${error.message}`).join('\n'),
    headers: headers(ID_HEADERS, refusals.flatMap(headerNames)),
    content: {
      'application/json': {
        schema: OURS,
        examples: Object.fromEntries(errors.map((body) => [body.error.code, { value: body }])),
      },
    },
  };
}

/** As they are written mostly: `WWW-Authenticate`, `X-Should-Retry`. */
function headerNames({ headers }: ProxyRefusal): string[] {
  const names = headers.filter((_, i) => i % 2 === 0);
  return names.map((name) => name.replace(/^www|\b[a-z]/g, (start) => start.toUpperCase()));
}

/** Any status may as well be that of the last upstream. */
function oursOrTheirs(refusals: readonly ProxyRefusal[]): Json {
  const { description, content, ...rest } = ours(refusals);
  const json = { ...content['application/json'], schema: OURS_OR_THEIRS };
  return {
    ...rest,
    description: `${description}\n- or what the upstream answered, as it came`,
    content: { 'application/json': json, ...ANYTHING },
  };
}
