import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import https from 'node:https';

const MAX_CONNECTIONS = 64;
/** Shorter than the idle timeout of servers, because a write on a closed connection cannot be retried. */
const MAX_IDLE_MS = 2_000;
const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** Error codes of a request whose reused connection the server had already closed. */
const CLOSED_CONNECTION = new Set(['ECONNRESET', 'EPIPE']);

/** Attempt of a call. */
interface Attempt {
  readonly signal: AbortSignal;
  readonly freshConnection: boolean;
  /** Whether a read failed without a response on a reused connection. */
  metClosedConnection: boolean;
  /** Status of the last response. */
  status?: number;
}

/**
 * HTTP for the minio client, whose methods take no AbortSignal and whose own retries do not recognize stale
 * connections. A request finds its call, and thereby the signal, through the asynchronous context.
 */
export class S3Transport {
  readonly agent: http.Agent;
  private readonly protocol: typeof http | typeof https;
  private readonly attempts = new AsyncLocalStorage<Attempt>();

  constructor(secure: boolean) {
    this.protocol = secure ? https : http;
    this.agent = new this.protocol.Agent({
      keepAlive: true,
      maxSockets: MAX_CONNECTIONS,
      timeout: MAX_IDLE_MS,
    });
  }

  /**
   * Runs one call of the client, and closes its connection when the signal is aborted. A server may close an idle
   * connection while a request is being sent; then a read is retried once on a fresh connection. A put is not
   * retried: the first request may still arrive, even after a later put. An error has the status of the last response
   * as `status`.
   */
  async run<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const attempt: Attempt = { signal, freshConnection: false, metClosedConnection: false };
    try {
      return await this.try(attempt, call);
    } catch (error) {
      if (!attempt.metClosedConnection || signal.aborted) throw error;
      return this.try({ ...attempt, freshConnection: true }, call);
    }
  }

  /** Errors of the client have a code, which it reads from the body. A body of another form has none. */
  private async try<T>(attempt: Attempt, call: () => Promise<T>): Promise<T> {
    try {
      return await this.attempts.run(attempt, call);
    } catch (error) {
      if (attempt.status === undefined || !(error instanceof Error)) throw error;
      throw Object.assign(error, { status: attempt.status });
    }
  }

  /** Replaces `request` of `node:http` in the client. */
  request(
    options: http.RequestOptions,
    onResponse: (response: http.IncomingMessage) => void,
  ): http.ClientRequest {
    const attempt = this.attempts.getStore();
    if (!attempt) throw new Error('a request to object storage needs a deadline: use run()');
    const agent = attempt.freshConnection ? false : this.agent;
    const request = this.protocol.request({ ...options, agent, signal: attempt.signal }, onResponse);
    let hasResponse = false;
    request.once('response', ({ statusCode }) => {
      hasResponse = true;
      attempt.status = statusCode;
    });
    request.once('error', ({ code }: NodeJS.ErrnoException) => {
      const closed = !hasResponse && CLOSED_CONNECTION.has(code ?? '');
      attempt.metClosedConnection = closed && request.reusedSocket && SAFE_METHODS.has(request.method);
    });
    return request;
  }
}
