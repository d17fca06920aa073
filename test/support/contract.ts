import { ServerResponse } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { HttpRequest, HttpResponse } from '../../src/http/http-exchange.js';
import type { HttpServerAdapter } from '../../src/http/server/http-server.js';
import { documentPath } from '../../src/openapi/route.js';

/** Part of the OpenAPI document that describes responses. */
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
interface ResponseParts {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<OutgoingHttpHeaders>;
  readonly body: Buffer;
}

/** Response with the request that it belongs to. */
interface SentResponse extends ResponseParts {
  readonly method: string;
  readonly url: string;
  /** Route of Express as the code has it; undefined if there is none. */
  readonly route?: string;
}

/** Route of paths that match no other route. */
const CATCH_ALL = '*everything}';
const REJECTION = {
  ...{ type: 'object', required: ['error'], additionalProperties: false },
  properties: {
    error: {
      ...{ type: 'object', required: ['message'], additionalProperties: false },
      properties: { message: { type: 'string' } },
    },
  },
};
const PROXY_ERROR = { $ref: '#/components/schemas/ProxyError' };
const REJECTIONS_OF_CATCH_ALL = [401, 404, 405, 500, 503];

/** Compares responses with the document. Members that the document does not have are violations: something leaks. */
export class Contract {
  private readonly ajv = new Ajv2020({ strict: false });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: ApiDocument) {
    addFormats.default(this.ajv);
    this.ajv.addSchema(closed({ components: document.components }), 'document');
  }

  /** Checks every response of the service before it is sent. */
  watch(app: NestExpressApplication, report: (violation: string) => void): void {
    const adapter = app.getHttpAdapter() as unknown as HttpServerAdapter;
    // Plain requests, which Node's parser does not read, are no event of the server.
    const handle = adapter.handle.bind(adapter);
    adapter.handle = (request, response) => {
      onEnd(response, (sent) => {
        const violation = this.violation({ ...requestOf(request), ...sent });
        if (violation !== undefined) report(`${request.method} ${request.url}: ${violation}`);
      });
      return handle(request, response);
    };
  }

  /** First violation of the document; undefined: none. */
  violation(sent: SentResponse): string | undefined {
    const { route = '' } = sent;
    if (headerOf(sent, 'x-request-id') === '') return 'has no X-Request-Id';
    if (isPreflight(sent)) return undefined;
    if (route.endsWith(CATCH_ALL)) return this.violationOfRejection(sent);
    if (/^\/(docs|openapi|assets|$)/.test(route)) return undefined;
    if (sent.method === 'TRACE') return this.misfit('the proxy', PROXY_ERROR, sent.body); // described in words alone
    const path = pathOf(sent);
    const operation = this.document.paths[path]?.[methodOf(sent)];
    return operation ? this.violationOf(operation, sent) : `${path} is not in the document`;
  }

  private violationOf({ operationId, responses }: ApiOperation, sent: SentResponse): string | undefined {
    const { status } = sent;
    const declared = responses[status] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses.default;
    if (!declared) return `${status} is not in the document`;
    const name = `${operationId} ${status}`;
    return violationOfHeaders(sent, declared, name) ?? this.violationOfBody(sent, declared, name);
  }

  private violationOfRejection(sent: SentResponse): string | undefined {
    const { status, body, method } = sent;
    if (isPage(sent)) return undefined;
    if (!REJECTIONS_OF_CATCH_ALL.includes(status)) return `an unknown route responds with ${status}`;
    return method === 'HEAD' ? undefined : this.misfit('an unknown route', REJECTION, body);
  }

  private violationOfBody(sent: SentResponse, { content }: ApiResponse, name: string) {
    const { status, body, method } = sent;
    if (method === 'HEAD' || status === 304 || isPassedOn(sent, name)) return undefined;
    if (isThroughProxy(name)) return this.misfit('the proxy', PROXY_ERROR, body);
    const type = headerOf(sent, 'content-type').replace(/;.*/, '');
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

/** Whether a response is the dashboard, which every unknown path shows to browsers. */
function isPage(sent: SentResponse): boolean {
  const isHtml = headerOf(sent, 'content-type').startsWith('text/html');
  const isFound = sent.status === 304 || (sent.status === 200 && isHtml);
  return isFound && ['GET', 'HEAD'].includes(sent.method);
}

/** Headers that clients act on. The document has to name them, or nobody knows about them. */
const DOCUMENTED_HEADERS = [
  ...['Allow', 'Content-Disposition', 'Link', 'Location', 'Request-Id', 'Retry-After', 'Set-Cookie'],
  ...['Upgrade', 'WWW-Authenticate', 'X-Should-Retry'],
];

function violationOfHeaders(sent: SentResponse, { headers = {} }: ApiResponse, name: string) {
  const missing = Object.keys(headers).find((each) => headers[each]!.required && headerOf(sent, each) === '');
  if (missing !== undefined && sent.status < 300) return `has no ${missing}`;
  if (isPassedOn(sent, name)) return undefined;
  const undocumented = DOCUMENTED_HEADERS.find((each) => !headers[each] && headerOf(sent, each) !== '');
  return undocumented === undefined ? undefined : `${name} has a ${undocumented} that is not in the document`;
}

function isThroughProxy(name: string): boolean {
  return name.includes('ThroughProxy');
}

/** Whether a response is the upstream's: the proxy's own responses are errors that name the request. */
function isPassedOn(sent: SentResponse, name: string): boolean {
  const isOurs = sent.body.includes(`"request_id":"${headerOf(sent, 'x-request-id')}"`);
  return isThroughProxy(name) && !isOurs;
}

/** Whether a browser requested permission for a request. Such requests get their response before routing. */
function isPreflight({ method, headers }: SentResponse): boolean {
  return method === 'OPTIONS' && headers['access-control-allow-methods'] !== undefined;
}

/** Methods that OpenAPI has no place for pass through the proxy like any other. */
const OPENAPI_METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

function methodOf({ method, route }: SentResponse): string {
  if (route === undefined && !OPENAPI_METHODS.includes(method)) return 'post';
  return method === 'HEAD' && route !== undefined ? 'get' : method.toLowerCase();
}

/** The proxy is in front of the routes; everything else has one. */
function pathOf({ method, route, url }: SentResponse): string {
  const path = url.replace(/[?#].*/, '');
  if (route !== undefined) return documentPath(route.replace(/:(\w+)/g, '{$1}'));
  if ((path === '/v1/models' && method === 'GET') || !path.startsWith('/v1')) return path;
  return '/v1/{path}';
}

function headerOf({ headers }: SentResponse, name: string): string {
  return String(headers[name.toLowerCase()] ?? '');
}

/** Describes the request at the end of the response, when Express has found its route. */
function requestOf(request: HttpRequest): Pick<SentResponse, 'method' | 'url' | 'route'> {
  const { method = '', url = '' } = request;
  return { method, url, route: (request as { route?: { path: string } }).route?.path };
}

/** Calls back with the whole response when it ends, before its end is sent. */
function onEnd(response: HttpResponse, callback: (sent: ResponseParts) => void): void {
  const { setHeader, writeHead, write, end } = response as unknown as Record<string, Written>;
  const set: OutgoingHttpHeaders = {};
  const written: { status?: number; headers?: unknown } = {};
  const chunks: Buffer[] = [];
  const keep = ([chunk, encoding]: unknown[]) => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encodingOf(encoding)));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const noting = (method: Written, note: (args: unknown[]) => void): Written =>
    function (this: HttpResponse, ...args) {
      note(args);
      return method.apply(this, args);
    };
  Object.assign(response, {
    setHeader: noting(setHeader!, ([name, value]) => (set[String(name).toLowerCase()] = String(value))),
    writeHead: noting(writeHead!, (args) => {
      Object.assign(written, { status: args[0], headers: args.at(-1) });
    }),
    write: noting(write!, keep),
    end: noting(end!, (args) => {
      keep(args);
      const known = response instanceof ServerResponse ? response : { statusCode: written.status! };
      const before = known instanceof ServerResponse ? known.getHeaders() : set;
      const headers = { ...before, ...headersOf(written.headers) };
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

/** Closes every object schema that lists its members, so that it has no others. References lead to the document. */
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
