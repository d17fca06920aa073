import { Injectable } from '@nestjs/common';
import { Client } from 'undici';
import { AddressGuard, AddressRefused } from './address-guard.js';
import { connectFailureOf } from './connect-failure.js';
import type { UpstreamTestResponse } from './dto/upstream.response.js';
import { guardedConnector } from './guarded-connector.js';
import { ANTHROPIC_VERSION, credentialHeader } from './provider.js';
import { targetUrl } from './target-url.js';
import type { Upstream } from './upstream.entity.js';

const TIMEOUT_MS = 10_000;

const PROBE_PATH = '/v1/models';

/** Asks upstreams for their models, to see whether base URL and API key are right. */
@Injectable()
export class UpstreamProbe {
  constructor(private readonly guard: AddressGuard) {}

  /** Never throws for what the upstream does, and does not tell what it says. */
  async probe(
    { baseUrl, provider }: Pick<Upstream, 'baseUrl' | 'provider'>,
    apiKey: string,
    timeoutMs = TIMEOUT_MS,
  ): Promise<UpstreamTestResponse> {
    const { origin, path } = targetUrl(baseUrl, PROBE_PATH)!;
    const headers = {
      ...{ accept: 'application/json', 'user-agent': 'mintkeep', ...credentialHeader(provider, apiKey) },
      ...(provider === 'anthropic' ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
    };
    const client = new Client(origin, { connect: guardedConnector(this.guard, { timeout: timeoutMs }) });
    const beganAt = performance.now();
    const elapsedMs = () => Math.round(performance.now() - beganAt);
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const { statusCode: status, body } = await client.request({ method: 'GET', path, headers, signal });
      body.on('error', () => undefined); // nobody reads it: it is cut off below
      const ok = status >= 200 && status < 300;
      return { ok, status, latency_ms: elapsedMs(), message: messageFor(status) };
    } catch (error) {
      return { ok: false, status: null, latency_ms: elapsedMs(), message: messageOf(error) };
    } finally {
      void client.destroy();
    }
  }
}

function messageFor(status: number): string {
  if (status < 300) return 'the upstream answers';
  if (status < 400) return 'the upstream redirects, and redirects are not followed';
  if (status === 401 || status === 403) return 'the upstream refuses the API key';
  if (status === 404) return 'the upstream has no list of models below this base URL';
  if (status === 429) return 'the upstream limits the rate of requests';
  return status < 500 ? 'the upstream refuses the request' : 'the upstream fails';
}

/** By what {@link connectFailureOf} says, by code or by name. */
const FAILURES: Record<string, string> = {
  dns: 'the host name does not resolve',
  certificate: 'the certificate of the upstream is not trusted',
  tls: 'the upstream does not speak TLS',
  ECONNREFUSED: 'the upstream refuses the connection',
  ECONNRESET: 'the upstream closes the connection',
  UND_ERR_SOCKET: 'the upstream closes the connection',
  UND_ERR_CONNECT_TIMEOUT: 'the upstream does not answer in time',
  TimeoutError: 'the upstream does not answer in time',
};

function messageOf(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  const { code, name } = error as { code?: unknown; name?: string };
  const failure = FAILURES[connectFailureOf(error)] ?? FAILURES[String(code)] ?? FAILURES[String(name)];
  return failure ?? 'the upstream cannot be reached';
}
