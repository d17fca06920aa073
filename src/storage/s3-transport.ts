import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import https from 'node:https';

const MAX_CONNECTIONS = 64;
/** Less than servers keep an idle connection: a request that changes something and meets a closed one has failed. */
const MAX_IDLE_MS = 2_000;
const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** How a request fails whose reused connection the server had closed already. */
const CLOSED_CONNECTION = new Set(['ECONNRESET', 'EPIPE']);

/** One try of a call. */
interface Attempt {
  readonly signal: AbortSignal;
  readonly freshConnection: boolean;
  /** A request that changes nothing failed unanswered on a connection that had been used before. */
  metClosedConnection: boolean;
}

/**
 * HTTP for the minio client, whose methods take no AbortSignal and whose own retries would take stale connections
 * for failures: a request finds the call that it belongs to through the asynchronous context.
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
   * Runs one call of the client; its connection is cut when the signal is aborted. A server may close an idle
   * connection just as a request is sent on it: a call that only reads is made once more on a fresh one then. A put
   * is not: the first may have got through all the same, and come after a later one.
   */
  async run<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const attempt: Attempt = { signal, freshConnection: false, metClosedConnection: false };
    try {
      return await this.attempts.run(attempt, call);
    } catch (error) {
      if (!attempt.metClosedConnection || signal.aborted) throw error;
      return this.attempts.run({ ...attempt, freshConnection: true }, call);
    }
  }

  /** What the client calls instead of that of `node:http`. */
  request(
    options: http.RequestOptions,
    onResponse: (response: http.IncomingMessage) => void,
  ): http.ClientRequest {
    const attempt = this.attempts.getStore();
    if (!attempt) throw new Error('a request to object storage needs a deadline: use run()');
    const agent = attempt.freshConnection ? false : this.agent;
    const request = this.protocol.request({ ...options, agent, signal: attempt.signal }, onResponse);
    let answered = false;
    request.once('response', () => (answered = true));
    request.once('error', ({ code }: NodeJS.ErrnoException) => {
      const closed = !answered && CLOSED_CONNECTION.has(code ?? '');
      attempt.metClosedConnection = closed && request.reusedSocket && SAFE_METHODS.has(request.method);
    });
    return request;
  }
}
