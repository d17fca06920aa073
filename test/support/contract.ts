import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { documentPath } from '../../src/openapi/route.js';

/** The OpenAPI document, as far as answers are concerned. */
export interface ApiDocument {
  readonly paths: Record<string, Record<string, ApiOperation>>;
  readonly components: { readonly schemas: object };
}

export interface ApiOperation {
  readonly operationId: string;
  readonly responses: Record<string, ApiResponse>;
}

export interface ApiResponse {
  readonly headers?: Record<string, { readonly required?: boolean }>;
  readonly content?: Record<string, { readonly schema: object }>;
}

interface Answer {
  readonly method: string;
  readonly url: string;
  /** The route of Express, as the code has it; undefined where there is none. */
  readonly route?: string;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

/** What answers a path that nothing else does. */
const CATCH_ALL = '*everything}';
const REFUSAL = {
  ...{ type: 'object', required: ['error'], additionalProperties: false },
  properties: {
    error: {
      ...{ type: 'object', required: ['message'], additionalProperties: false },
      properties: { message: { type: 'string' } },
    },
  },
};
const REFUSALS_OF_CATCH_ALL = [401, 404, 405, 500, 503];

/** Holds answers against the document. Members that the document does not have are violations: something leaks. */
export class Contract {
  private readonly ajv = new Ajv2020({ strict: false });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: ApiDocument) {
    addFormats.default(this.ajv);
    this.ajv.addSchema(closed({ components: document.components }), 'document');
  }

  /** Has every answer of the server looked at, before it is sent. */
  watch(server: Server, report: (violation: string) => void): void {
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      onEnd(response, (body) => {
        const { method = '', url = '' } = request;
        const route = (request as { route?: { path: string } }).route?.path;
        const violation = this.violation({ method, url, route, response, body });
        if (violation !== undefined) report(`${method} ${url}: ${violation}`);
      });
    });
  }

  /** What is wrong with the answer; undefined: nothing. */
  violation(answer: Answer): string | undefined {
    const { response, route = '' } = answer;
    if (headerOf(response, 'x-request-id') === '') return 'has no X-Request-Id';
    if (isPreflight(answer)) return undefined;
    if (route.endsWith(CATCH_ALL)) return this.violationOfRefusal(answer);
    if (/^\/(docs|openapi)/.test(route)) return undefined;
    const path = pathOf(answer);
    const operation = this.document.paths[path]?.[methodOf(answer)];
    return operation ? this.violationOf(operation, answer) : `${path} is not in the document`;
  }

  private violationOf({ operationId, responses }: ApiOperation, answer: Answer): string | undefined {
    const { response } = answer;
    const range = `${Math.floor(response.statusCode / 100)}XX`;
    const declared = responses[response.statusCode] ?? responses[range] ?? responses.default;
    if (!declared) return `${response.statusCode} is not in the document`;
    const name = `${operationId} ${response.statusCode}`;
    return violationOfHeaders(response, declared, name) ?? this.violationOfBody(answer, declared, name);
  }

  private violationOfRefusal({ response, body, method }: Answer): string | undefined {
    if (!REFUSALS_OF_CATCH_ALL.includes(response.statusCode))
      return `an unknown route answers ${response.statusCode}`;
    return method === 'HEAD' ? undefined : this.misfit('an unknown route', REFUSAL, body);
  }

  private violationOfBody({ response, body, method }: Answer, { content }: ApiResponse, name: string) {
    if (method === 'HEAD' || response.statusCode === 304) return undefined;
    if (isPassedOn(name)) return undefined;
    const type = headerOf(response, 'content-type').replace(/;.*/, '');
    if (!content) return body.length === 0 ? undefined : `${name} has a body`;
    if (!content[type]) return `${name} is ${type || 'empty'}`;
    return type === 'application/json' ? this.misfit(name, content[type].schema, body) : undefined;
  }

  private misfit(name: string, schema: object, body: Buffer): string | undefined {
    const validate = this.validators.get(name) ?? this.ajv.compile(closed(schema));
    this.validators.set(name, validate);
    const value: unknown = JSON.parse(body.toString());
    return validate(value)
      ? undefined
      : `${name}: ${this.ajv.errorsText(validate.errors)}: ${body.toString().slice(0, 500)}`;
  }
}

/** Headers that clients act on, and that say nothing where nobody knows of them. */
const TOLD_HEADERS = [
  ...['Allow', 'Content-Disposition', 'Link', 'Location', 'Request-Id', 'Retry-After', 'Set-Cookie'],
  ...['WWW-Authenticate', 'X-Should-Retry'],
];

function violationOfHeaders(response: ServerResponse, { headers = {} }: ApiResponse, name: string) {
  const missing = Object.keys(headers).find(
    (each) => headers[each]!.required && headerOf(response, each) === '',
  );
  if (missing !== undefined && response.statusCode < 300) return `has no ${missing}`;
  if (isPassedOn(name)) return undefined;
  const untold = TOLD_HEADERS.find((each) => !headers[each] && headerOf(response, each) !== '');
  return untold === undefined ? undefined : `${name} has a ${untold} that is not in the document`;
}

/** Then it is the upstream's. */
function isPassedOn(name: string): boolean {
  return name.includes('ThroughProxy');
}

/** Asked by browsers before they ask; answered before there are routes. */
function isPreflight({ method, response }: Answer): boolean {
  return method === 'OPTIONS' && response.hasHeader('access-control-allow-methods');
}

/** Methods that OpenAPI has no place for pass through the proxy like any other. */
const OPENAPI_METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

function methodOf({ method, route }: Answer): string {
  if (route === undefined && !OPENAPI_METHODS.includes(method)) return 'post';
  return method === 'HEAD' && route !== undefined ? 'get' : method.toLowerCase();
}

/** The proxy is in front of the routes; everything else has one. */
function pathOf({ method, route, url }: Answer): string {
  const path = url.replace(/[?#].*/, '');
  if (route !== undefined) return documentPath(route.replace(/:(\w+)/g, '{$1}'));
  if ((path === '/v1/models' && method === 'GET') || !path.startsWith('/v1')) return path;
  return '/v1/{path}';
}

/** Headers that were given as a list of names and values. */
const heads = new WeakMap<ServerResponse, string[]>();

function headerOf(response: ServerResponse, name: string): string {
  const list = heads.get(response) ?? [];
  const at = list.findIndex((other, i) => i % 2 === 0 && other.toLowerCase() === name.toLowerCase());
  return at < 0 ? String(response.getHeader(name) ?? '') : list[at + 1]!;
}

/** Calls back with the whole body when the response ends, before its end is sent. */
function onEnd(response: ServerResponse, callback: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string));
  };
  const { write, end, writeHead } = response;
  response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
    const result = writeHead.apply(this, args as never);
    const given = args.at(-1); // Node keeps a list of headers nowhere that it can be asked for
    if (Array.isArray(given)) heads.set(this, given.map(String));
    return result;
  };
  response.write = function (this: ServerResponse, ...args: unknown[]) {
    keep(args[0]);
    return write.apply(this, args as never);
  } as never;
  response.end = function (this: ServerResponse, ...args: unknown[]) {
    keep(args[0]);
    callback(Buffer.concat(chunks));
    return end.apply(this, args as never);
  } as never;
}

/** The schema with every object that lists its members having no others; references go to the document. */
export function closed<T>(node: T): T {
  if (Array.isArray(node)) return node.map((item: unknown) => closed(item)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]): [string, unknown] => {
    if (name === 'examples' || name === 'example') return [name, value];
    return [name, name === '$ref' ? `document${String(value)}` : closed(value)];
  });
  const copy = Object.fromEntries(entries);
  const isObject = 'properties' in copy && typeof copy.properties === 'object';
  return (isObject ? { additionalProperties: false, ...copy } : copy) as T;
}
