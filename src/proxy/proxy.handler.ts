import { Injectable, Logger } from '@nestjs/common';
import type { HttpRequest, HttpResponse } from '../http/http-exchange.js';
import { requestIdFor } from '../common/api/request-id.js';
import { KeyAuthenticator } from '../keys/key-authenticator.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import { DatabaseUnavailable } from '../keys/keys.errors.js';
import { findProxyKey } from './request/proxy-credential.js';
import type { ProxyErrorCode } from './errors/proxy-error.js';
import { ProxyForwarding } from './proxy-forwarding.js';
import { RejectedRequests } from './errors/rejected-requests.js';

/**
 * Handles every request below `/v1`: verifies the proxy key and forwards the request. Nest's guards and filters do not
 * run for these requests.
 */
@Injectable()
export class ProxyHandler {
  private readonly logger = new Logger(ProxyHandler.name);

  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly forwarding: ProxyForwarding,
    private readonly rejected: RejectedRequests,
  ) {}

  readonly handle = (request: HttpRequest, response: HttpResponse): void => {
    const secret = findProxyKey(request.headers);
    if (secret === undefined) return this.reject(response, 'missing_proxy_key');
    const { version } = this.keys; // before the key is loaded: a concurrent revocation changes the version
    // Keys are mostly cached; the synchronous path saves a promise per request.
    const key = this.keys.authenticate(secret);
    if (!(key instanceof Promise)) return this.forward(request, response, key, version);
    const beganAt = performance.now();
    key.then(
      (found) => this.forward(request, response, found, version, beganAt),
      (error: unknown) => this.onLoadError(response, error, beganAt),
    );
  };

  private forward(
    request: HttpRequest,
    response: HttpResponse,
    key: AuthenticatedKey | undefined,
    version: number,
    beganAt?: number,
  ): void {
    if (!key) return this.reject(response, 'invalid_proxy_key', beganAt);
    this.forwarding.begin(request, response, key, version);
  }

  private onLoadError(response: HttpResponse, error: unknown, beganAt: number): void {
    if (error instanceof DatabaseUnavailable) return this.reject(response, 'database_unavailable', beganAt);
    this.logger.error({ requestId: requestIdFor(response.req), err: error }, 'unexpected failure');
    response.destroy();
  }

  private reject(response: HttpResponse, code: ProxyErrorCode, beganAt = performance.now()): void {
    this.rejected.reject(response, code, beganAt);
  }
}
