import type { HttpRequest, HttpResponse } from '../http-exchange.js';
import { assignRequestId } from '../../common/api/request-id.js';

/** Paths of the APIs. Pages are excluded: no script of another site needs to read them. */
const API_PATHS = /^\/(?:me|v1|oauth|\.well-known|auth\/device\/(?:code|token)|openapi\.json)(?=[/?]|$)/;
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const EXPOSED_HEADERS =
  'Content-Disposition, ETag, Link, Location, Retry-After, X-Request-Id, Request-Id, X-Should-Retry';
const PREFLIGHT_SECONDS = 600;
const HEADER_NAMES = /^[!#$%&'*+.^_`|~0-9A-Za-z, -]{1,4096}$/;

/**
 * Lets scripts of some origins read responses. Requests carry their credentials in headers that scripts set themselves.
 * Cookies are not allowed, so an allowed origin gains no access that its scripts do not have already.
 */
export class Cors {
  private readonly origins: ReadonlySet<string>;

  /** @param origins exact origins, such as `https://app.example.com` */
  constructor(origins: readonly string[]) {
    this.origins = new Set(origins);
  }

  /**
   * Sets the headers for the origin of the request. Responds to a preflight.
   * @returns whether the request was a preflight
   */
  handle(request: HttpRequest, response: HttpResponse): boolean {
    if (this.origins.size === 0 || !API_PATHS.test(request.url ?? '')) return false;
    response.setHeader('Vary', 'Origin');
    const { origin, 'access-control-request-method': method } = request.headers;
    if (origin === undefined || !this.origins.has(origin)) return false;
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (request.method !== 'OPTIONS' || method === undefined) {
      response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
      return false;
    }
    this.respondToPreflight(request, response);
    return true;
  }

  /** Allows every header: client libraries of model providers send many of their own, and add new ones. */
  private respondToPreflight(request: HttpRequest, response: HttpResponse): void {
    const requested = String(request.headers['access-control-request-headers'] ?? '');
    if (HEADER_NAMES.test(requested)) response.setHeader('Access-Control-Allow-Headers', requested);
    assignRequestId(request, response);
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    response.writeHead(204).end();
  }
}
