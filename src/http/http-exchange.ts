import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** Members of a request that Node's `IncomingMessage` and the requests of the fast path have in common. */
export interface HttpRequest {
  readonly method?: string;
  /** Default: `1.1`. */
  readonly httpVersion?: string;
  /** Path and query as received. */
  readonly url?: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values as received. */
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** Whether all bytes of the request have arrived. */
  readonly complete: boolean;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  /** Stops reading the body, also from the network, until {@link resume}. */
  pause(): unknown;
  resume(): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): HttpRequest;
  off(event: 'end' | 'close', listener: () => void): HttpRequest;
}

/** Members of a response that Node's `ServerResponse` and the responses of the fast path have in common. */
export interface HttpResponse {
  readonly req: HttpRequest;
  /** Whether the connection is kept after the response; has no effect once the headers are sent. */
  shouldKeepAlive: boolean;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** Whether the response is finished, or its connection is closed. */
  readonly destroyed: boolean;
  /** Null once the response is finished. */
  readonly socket: Socket | null;
  setHeader(name: string, value: string | number): unknown;
  /** Headers of {@link setHeader}. Node's `writeHead` drops repeated names if any header was set before. */
  getHeaders?(): Readonly<Record<string, unknown>>;
  /** @param headers alternating names and values */
  writeHead(status: number, headers?: string[]): HttpResponse;
  flushHeaders(): void;
  /** @returns false if the client does not keep up; `drain` is emitted when writing can continue */
  write(chunk: Buffer): boolean;
  write(text: string, written: () => void): boolean;
  end(last: Buffer | string, encoding: 'latin1'): unknown;
  end(last?: string): unknown;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
  emit(event: 'close'): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}
