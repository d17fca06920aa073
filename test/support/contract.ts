import { ServerResponse } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { HttpRequest, HttpResponse } from '../../src/http/http-exchange.js';
import type { HttpServerAdapter } from '../../src/http/server/http-server.js';
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

/** Response that a client receives. */
interface Sent {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<OutgoingHttpHeaders>;
  readonly body: Buffer;
}

interface Answer extends Sent {
  readonly method: string;
  readonly url: string;
  /** The route of Express, as the code has it; undefined where there is none. */
  readonly route?: string;
}

/** Route of paths that match no other route. */
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
const PROXY_ERROR = { $ref: '#/components/schemas/ProxyError' };
const REFUSALS_OF_CATCH_ALL = [401, 404, 405, 500, 503];

/** Holds answers against the document. Members that the document does not have are violations: something leaks. */
export class Contract {
  private readonly ajv = new Ajv2020({ strict: false });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: ApiDocument) {
    addFormats.default(this.ajv);
    this.ajv.addSchema(closed({ components: document.components }), 'document');
  }

  /** Has every answer of the service looked at, before it is sent. */
  watch(app: NestExpressApplication, report: (violation: string) => void): void {
    const adapter = app.getHttpAdapter() as unknown as HttpServerAdapter;
    // Plain requests, which Node's parser does not read, are no event of the server.
    const answers = adapter.handle.bind(adapter);
    adapter.handle = (request, response) => {
      onEnd(response, (sent) => {
        const violation = this.violation({ ...requestOf(request), ...sent });
        if (violation !== undefined) report(`${request.method} ${request.url}: ${violation}`);
      });
      return answers(request, response);
    };
  }

  /** First violation of the document; undefined: none. */
  violation(answer: Answer): string | undefined {
    const { route = '' } = answer;
    if (headerOf(answer, 'x-request-id') === '') return 'has no X-Request-Id';
    if (isPreflight(answer)) return undefined;
    if (route.endsWith(CATCH_ALL)) return this.violationOfRefusal(answer);
    if (/^\/(docs|openapi|assets|$)/.test(route)) return undefined;
    if (answer.method === 'TRACE') return this.misfit('the proxy', PROXY_ERROR, answer.body); // described in words alone
    const path = pathOf(answer);
    const operation = this.document.paths[path]?.[methodOf(answer)];
    return operation ? this.violationOf(operation, answer) : `${path} is not in the document`;
  }

  private violationOf({ operationId, responses }: ApiOperation, answer: Answer): string | undefined {
    const { status } = answer;
    const declared = responses[status] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses.default;
    if (!declared) return `${status} is not in the document`;
    const name = `${operationId} ${status}`;
    return violationOfHeaders(answer, declared, name) ?? this.violationOfBody(answer, declared, name);
  }

  private violationOfRefusal(answer: Answer): string | undefined {
    const { status, body, method } = answer;
    if (isPage(answer)) return undefined;
    if (!REFUSALS_OF_CATCH_ALL.includes(status)) return `an unknown route answers ${status}`;
    return method === 'HEAD' ? undefined : this.misfit('an unknown route', REFUSAL, body);
  }

  private violationOfBody(answer: Answer, { content }: ApiResponse, name: string) {
    const { status, body, method } = answer;
    if (method === 'HEAD' || status === 304 || isPassedOn(answer, name)) return undefined;
    if (isThroughProxy(name)) return this.misfit('the proxy', PROXY_ERROR, body);
    const type = headerOf(answer, 'content-type').replace(/;.*/, '');
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

/** Whether it is the dashboard, which every unknown path shows to browsers. */
function isPage(answer: Answer): boolean {
  const isHtml = headerOf(answer, 'content-type').startsWith('text/html');
  const isFound = answer.status === 304 || (answer.status === 200 && isHtml);
  return isFound && ['GET', 'HEAD'].includes(answer.method);
}

/** Headers that clients act on, and that say nothing where nobody knows of them. */
const TOLD_HEADERS = [
  ...['Allow', 'Content-Disposition', 'Link', 'Location', 'Request-Id', 'Retry-After', 'Set-Cookie'],
  ...['Upgrade', 'WWW-Authenticate', 'X-Should-Retry'],
];

function violationOfHeaders(answer: Answer, { headers = {} }: ApiResponse, name: string) {
  const missing = Object.keys(headers).find(
    (each) => headers[each]!.required && headerOf(answer, each) === '',
  );
  if (missing !== undefined && answer.status < 300) return `has no ${missing}`;
  if (isPassedOn(answer, name)) return undefined;
  const untold = TOLD_HEADERS.find((each) => !headers[each] && headerOf(answer, each) !== '');
  return untold === undefined ? undefined : `${name} has a ${untold} that is not in the document`;
}

function isThroughProxy(name: string): boolean {
  return name.includes('ThroughProxy');
}

/** Whether it is the upstream's: the proxy's own answers are errors that name the request. */
function isPassedOn(answer: Answer, name: string): boolean {
  const isOurs = answer.body.includes(`"request_id":"${headerOf(answer, 'x-request-id')}"`);
  return isThroughProxy(name) && !isOurs;
}

/** Asked by browsers before they ask; answered before there are routes. */
function isPreflight({ method, headers }: Answer): boolean {
  return method === 'OPTIONS' && headers['access-control-allow-methods'] !== undefined;
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

function headerOf({ headers }: Answer, name: string): string {
  return String(headers[name.toLowerCase()] ?? '');
}

/** Describes the request at the end of the response, when Express has found its route. */
function requestOf(request: HttpRequest): Pick<Answer, 'method' | 'url' | 'route'> {
  const { method = '', url = '' } = request;
  return { method, url, route: (request as { route?: { path: string } }).route?.path };
}

/** Calls back with the whole answer when the response ends, before its end is sent. */
function onEnd(response: HttpResponse, callback: (sent: Sent) => void): void {
  const { setHeader, writeHead, write, end } = response as unknown as Record<string, Written>;
  const set: OutgoingHttpHeaders = {};
  const head: { status?: number; headers?: unknown } = {};
  const chunks: Buffer[] = [];
  const keep = ([chunk, encoding]: unknown[]) => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encodingOf(encoding)));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const noting = (written: Written, note: (args: unknown[]) => void): Written =>
    function (this: HttpResponse, ...args) {
      note(args);
      return written.apply(this, args);
    };
  Object.assign(response, {
    setHeader: noting(setHeader!, ([name, value]) => (set[String(name).toLowerCase()] = String(value))),
    writeHead: noting(writeHead!, (args) => {
      Object.assign(head, { status: args[0], headers: args.at(-1) });
    }),
    write: noting(write!, keep),
    end: noting(end!, (args) => {
      keep(args);
      const known = response instanceof ServerResponse ? response : { statusCode: head.status! };
      const before = known instanceof ServerResponse ? known.getHeaders() : set;
      const headers = { ...before, ...headersOf(head.headers) };
      callback({ status: known.statusCode, headers, body: Buffer.concat(chunks) });
    }),
  });
}

type Written = (this: HttpResponse, ...args: unknown[]) => unknown;

function encodingOf(argument: unknown): BufferEncoding | undefined {
  return typeof argument === 'string' ? (argument as BufferEncoding) : undefined;
}

/** Headers of a list of names and values, which Node does not expose otherwise. */
function headersOf(list: unknown): OutgoingHttpHeaders {
  if (!Array.isArray(list)) return {};
  const pairs = list.flatMap((name, i) => (i % 2 === 0 ? [[String(name).toLowerCase(), list[i + 1]]] : []));
  return Object.fromEntries(pairs) as OutgoingHttpHeaders;
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
