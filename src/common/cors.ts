import type { HttpRequest, HttpResponse } from './http-exchange.js';
import { assignRequestId } from './request-id.js';

/** Addresses for scripts. Pages are not among them: no other site has any business with those. */
const FOR_SCRIPTS = /^\/(?:me|v1|oauth|\.well-known|auth\/device\/(?:code|token)|openapi\.json)(?=[/?]|$)/;
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const EXPOSED = [
  ...['Content-Disposition', 'ETag', 'Link', 'Location', 'Retry-After'],
  ...['X-Request-Id', 'Request-Id', 'X-Should-Retry'],
].join(', ');
const PREFLIGHT_SECONDS = 600;
const HEADER_NAMES = /^[!#$%&'*+.^_`|~0-9A-Za-z, -]{1,4096}$/;

/**
 * Lets scripts of some origins read answers. Credentials are in headers that scripts set themselves; cookies stay
 * out of it, so that being named here gives a site nothing that its scripts do not have.
 */
export class Cors {
  private readonly origins: ReadonlySet<string>;

  /** @param origins exact ones, such as `https://app.example.com` */
  constructor(origins: readonly string[]) {
    this.origins = new Set(origins);
  }

  /**
   * Gives the response the headers that its request's origin has a right to.
   * @returns whether the request was a preflight; then it is answered
   */
  answers(request: HttpRequest, response: HttpResponse): boolean {
    if (this.origins.size === 0 || !FOR_SCRIPTS.test(request.url ?? '')) return false;
    response.setHeader('Vary', 'Origin');
    const { origin, 'access-control-request-method': method } = request.headers;
    if (origin === undefined || !this.origins.has(origin)) return false;
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (request.method !== 'OPTIONS' || method === undefined) {
      response.setHeader('Access-Control-Expose-Headers', EXPOSED);
      return false;
    }
    this.answerPreflight(request, response);
    return true;
  }

  /** Any header may be sent: the clients of the model providers have many of their own, and new ones all the time. */
  private answerPreflight(request: HttpRequest, response: HttpResponse): void {
    const wanted = String(request.headers['access-control-request-headers'] ?? '');
    if (HEADER_NAMES.test(wanted)) response.setHeader('Access-Control-Allow-Headers', wanted);
    assignRequestId(request, response);
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    response.writeHead(204).end();
  }
}
