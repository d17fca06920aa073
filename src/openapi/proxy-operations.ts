import type { Json } from './json-schema.js';

/** `/v1` is no route of Nest's: what passes there is the upstream's, and only refusals are ours. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const SECURITY = [{ proxyKey: [] }, { proxyKeyAsXApiKey: [] }, { proxyKeyAsApiKey: [] }];

/** Code, type as the SDKs know it, and what it means, by status. */
const REFUSALS: Record<number, readonly (readonly [code: string, type: string, message: string])[]> = {
  401: [
    ['missing_proxy_key', 'authentication_error', 'a proxy key is required'],
    ['invalid_proxy_key', 'authentication_error', 'the proxy key is not valid'],
  ],
  413: [['request_too_large', 'request_too_large', 'the body is larger than the service takes']],
  502: [
    ['upstream_unreachable', 'api_error', 'no upstream could be reached'],
    ['upstream_error', 'api_error', 'the upstream answered with something that cannot be passed on'],
  ],
  503: [
    ['no_upstream', 'api_error', 'the owner of the key has no enabled upstream'],
    ['database_unavailable', 'api_error', 'the key cannot be verified at the moment'],
  ],
  504: [['upstream_timeout', 'api_error', 'no upstream answered in time']],
};

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
          code: { type: 'string', examples: ['invalid_proxy_key'] },
          param: { type: 'null' },
        },
      },
      request_id: { type: 'string', examples: ['6b1f0e7c-7a0b-4f5e-9d39-0b5f4d1f2a11'] },
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

/** The paths of the proxy, and that of the metrics. */
export function proxyPaths(): Json {
  return {
    '/v1/models': { get: models() },
    '/v1/{path}': Object.fromEntries(METHODS.map((method) => [method, passOn(method)])),
    '/metrics': { get: metrics() },
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
        ...{ description: 'The models.' },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/ModelList' },
            example: { object: 'list', data: [{ id: 'gpt-5', object: 'model' }] },
          },
        },
      },
      ...refusals(OURS),
    },
  };
}

function passOn(method: string): Json {
  const hasBody = method !== 'get' && method !== 'delete';
  return {
    operationId: `${method}ThroughProxy`,
    summary: 'Pass a request on to the first upstream that answers',
    description:
      'Body, status and content type pass unchanged both ways. The next upstream is tried on network errors and ' +
      'statuses of 500 and more, never on others.',
    ...{ tags: ['Proxy'], security: SECURITY },
    parameters: [
      {
        ...{ name: 'path', in: 'path', required: true },
        description: 'May have slashes.',
        schema: { type: 'string', examples: ['chat/completions'] },
      },
    ],
    ...(hasBody ? { requestBody: { content: { 'application/json': { schema: {}, example: CHAT } } } } : {}),
    responses: {
      default: { description: 'What the upstream answered.' },
      ...refusals(PASSED_ON),
    },
  };
}

const CHAT = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello!' }] };

/** Where every refusal is ours, and where it may as well be the upstream's, as it came. */
const OURS = { $ref: '#/components/schemas/ProxyError' };
const PASSED_ON = { anyOf: [OURS, { description: 'As the upstream has it.' }] };

function refusals(schema: Json): Json {
  return Object.fromEntries(
    Object.entries(REFUSALS).map(([status, refusals]) => [
      status,
      {
        description: refusals.map(([code, , message]) => `- \`${code}\`: ${message}`).join('\n'),
        content: {
          'application/json': {
            schema,
            examples: Object.fromEntries(
              refusals.map(([code, type, message]) => [code, { value: error(code, type, message) }]),
            ),
          },
        },
      },
    ]),
  );
}

function error(code: string, type: string, message: string): Json {
  return { type: 'error', error: { type, message, code, param: null }, request_id: '6b1f0e7c' };
}

function metrics(): Json {
  return {
    ...{ operationId: 'getMetrics', summary: 'Metrics for Prometheus', tags: ['Operation'] },
    description: 'Open to everybody where `ADMIN_TOKEN` is not set.',
    security: [{ adminToken: [] }],
    responses: {
      200: {
        ...{ description: 'Counters and histograms.' },
        content: {
          'text/plain': { schema: { type: 'string' }, example: '# TYPE process_cpu_seconds_total counter\n' },
        },
      },
      401: {
        description: '- the admin token is required',
        content: {
          'application/json': {
            schema: {
              ...{ type: 'object', required: ['error'] },
              properties: {
                error: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } },
              },
            },
            example: { error: { message: 'the admin token is required' } },
          },
        },
      },
    },
  };
}
