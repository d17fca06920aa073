import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** What is needed of a request: Node's own have it, and those that are read by `plain-http`. */
export interface HttpRequest {
  readonly method?: string;
  /** `1.1`, where that is not said otherwise. */
  readonly httpVersion?: string;
  /** Path and query, as they came. */
  readonly url?: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** Whether all of it has come. */
  readonly complete: boolean;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  /** Nothing more of the body is told, nor read from the network, until {@link resume}. */
  pause(): unknown;
  resume(): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): HttpRequest;
  off(event: 'end' | 'close', listener: () => void): HttpRequest;
}

/** What is needed of a response. */
export interface HttpResponse {
  readonly req: HttpRequest;
  /** Whether the connection is kept afterwards; of no effect once the head is written. */
  shouldKeepAlive: boolean;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** Whether its client has all of it, or gets no more. */
  readonly destroyed: boolean;
  /** Null when it is finished. */
  readonly socket: Socket | null;
  setHeader(name: string, value: string | number): unknown;
  /** Of those whose {@link writeHead} keeps one header of a name where any were set before. */
  getHeaders?(): Readonly<Record<string, unknown>>;
  /** @param headers names and values in turn */
  writeHead(status: number, headers?: string[]): HttpResponse;
  flushHeaders(): void;
  /** @returns false when the client does not keep up: `drain` tells when it has */
  write(chunk: Buffer): boolean;
  write(text: string, written: () => void): boolean;
  /** @param sent is called when all of it is handed to the kernel; never, when the client leaves before */
  end(last: Buffer | string, encoding: 'latin1', sent?: () => void): unknown;
  end(last?: string): unknown;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
  emit(event: 'close'): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}
