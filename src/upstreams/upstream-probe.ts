import { Injectable } from '@nestjs/common';
import { Client } from 'undici';
import { AddressGuard, AddressRejected } from './network/address-guard.js';
import type { UpstreamCheckResponse } from './dto/upstream.response.js';
import { classifyConnectError, guardedConnector } from './network/guarded-connector.js';
import { ANTHROPIC_VERSION, credentialHeader } from './provider.js';
import { targetUrl } from './target-url.js';
import type { Upstream } from './upstream.entity.js';

const TIMEOUT_MS = 10_000;

const PROBE_PATH = '/v1/models';

/** Requests the model list of an upstream to check base URL and API key. */
@Injectable()
export class UpstreamProbe {
  constructor(private readonly guard: AddressGuard) {}

  /** Never throws because of the upstream, and returns nothing that the upstream sent. */
  async probe(
    { baseUrl, provider, organizationId }: Pick<Upstream, 'baseUrl' | 'provider' | 'organizationId'>,
    apiKey: string,
    timeoutMs = TIMEOUT_MS,
  ): Promise<UpstreamCheckResponse> {
    const { origin, path } = targetUrl(baseUrl, PROBE_PATH)!;
    const headers = {
      accept: 'application/json',
      'user-agent': 'mintkeep',
      ...credentialHeader(provider, apiKey),
      ...(provider === 'anthropic' ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
    };
    const lookupOptions = { organizationId, fresh: true };
    const client = new Client(origin, {
      connect: guardedConnector(this.guard, lookupOptions, { timeout: timeoutMs }),
    });
    const startedAt = performance.now();
    const elapsedMs = () => Math.round(performance.now() - startedAt);
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const { statusCode: status, body } = await client.request({ method: 'GET', path, headers, signal });
      body.on('error', () => undefined); // the body is not read: destroy() aborts it
      const ok = status >= 200 && status < 300;
      return { ok, status, latency_ms: elapsedMs(), message: statusMessage(status) };
    } catch (error) {
      return { ok: false, status: null, latency_ms: elapsedMs(), message: failureMessage(error) };
    } finally {
      void client.destroy();
    }
  }
}

function statusMessage(status: number): string {
  if (status < 300) return 'the upstream works';
  if (status < 400) return 'the upstream redirects, but redirects are not followed: check base_url';
  if (status === 401 || status === 403) return 'the upstream rejects the API key';
  if (status === 404) return 'the upstream has no model list below this base URL';
  if (status === 429) return 'the upstream limits the rate of requests';
  return status < 500 ? 'the upstream rejects the request' : 'the upstream fails';
}

/** Messages by {@link ConnectFailure}, by error code or by error name. */
const FAILURES: Record<string, string> = {
  dns: 'the host name does not resolve',
  certificate: 'the certificate of the upstream is not trusted',
  tls: 'the upstream does not speak TLS',
  ECONNREFUSED: 'the upstream refuses the connection',
  ECONNRESET: 'the upstream closes the connection',
  UND_ERR_SOCKET: 'the upstream closes the connection',
  UND_ERR_CONNECT_TIMEOUT: 'the upstream does not respond in time',
  TimeoutError: 'the upstream does not respond in time',
};

function failureMessage(error: unknown): string {
  if (error instanceof AddressRejected) return error.message;
  const { code, name } = error as { code?: unknown; name?: string };
  const failure = FAILURES[classifyConnectError(error)] ?? FAILURES[String(code)] ?? FAILURES[String(name)];
  return failure ?? 'the upstream cannot be reached';
}
