import { Injectable, Logger } from '@nestjs/common';
import type { HttpRequest, HttpResponse } from '../common/http-exchange.js';
import { requestIdFor } from '../common/request-id.js';
import { KeyAuthenticator } from '../keys/key-authenticator.js';
import type { AuthenticatedKey } from '../keys/key-authenticator.js';
import { DatabaseUnavailable } from '../keys/keys.errors.js';
import { presentedKey } from './proxy-credential.js';
import type { ProxyErrorCode } from './proxy-error.js';
import { ProxyForwarding } from './proxy-forwarding.js';
import { RefusedRequests } from './refused-requests.js';

/**
 * Answers everything below `/v1`, before Express sees it: who is it, and on with the request. What guards and
 * filters do elsewhere is done here.
 */
@Injectable()
export class ProxyHandler {
  private readonly logger = new Logger(ProxyHandler.name);

  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly forwarding: ProxyForwarding,
    private readonly refused: RefusedRequests,
  ) {}

  readonly handle = (request: HttpRequest, response: HttpResponse): void => {
    const secret = presentedKey(request.headers);
    if (secret === undefined) return this.refuse(response, 'missing_proxy_key');
    // Mostly answered from memory, and then without a detour through the queue of promises.
    const key = this.keys.authenticate(secret);
    if (!(key instanceof Promise)) return this.go(request, response, key);
    const beganAt = performance.now();
    key.then(
      (found) => this.go(request, response, found, beganAt),
      (error: unknown) => this.fail(response, error, beganAt),
    );
  };

  private go(
    request: HttpRequest,
    response: HttpResponse,
    key: AuthenticatedKey | undefined,
    beganAt?: number,
  ): void {
    if (!key) return this.refuse(response, 'invalid_proxy_key', beganAt);
    this.forwarding.begin(request, response, key);
  }

  private fail(response: HttpResponse, error: unknown, beganAt: number): void {
    if (error instanceof DatabaseUnavailable) return this.refuse(response, 'database_unavailable', beganAt);
    this.logger.error({ requestId: requestIdFor(response.req), err: error }, 'unexpected failure');
    response.destroy();
  }

  private refuse(response: HttpResponse, code: ProxyErrorCode, beganAt = performance.now()): void {
    this.refused.refuse(response, code, beganAt);
  }
}
