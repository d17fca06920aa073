import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import type { buildConnector } from 'undici';
import type { AttemptError, AttemptResult } from '../exchange/attempt-result.js';
import type { Target } from '../pool/targets.js';
import type { FailureKind } from '../wire/upstream-connection.js';
import { toFailureKind } from '../wire/upstream-connections.js';
import { LIMIT_BYTES, LIMIT_FIELDS, LIMIT_INFORMATIONAL } from '../wire/header-budget.js';
import { SOCKET_OPTIONS } from './client-socket.js';
import { RelayPeer } from './relay-peer.js';

/** Maximum size of a response that is relayed instead of a connection. */
const BODY_LIMIT_BYTES = 65_536;
/** Statuses below 500 of servers that do not know WebSockets at this path. */
const UNSUPPORTED = new Set([404, 405, 426]);
const NOT_IMPLEMENTED = 501;

/** Handshake of a client, to be repeated at the upstreams. */
export interface ClientHandshake {
  readonly protocols: readonly string[];
  /** Header lines for upstreams. */
  readonly lines: string;
}

/** Opens a WebSocket at one upstream. */
export class UpstreamHandshake implements AttemptResult {
  status: number | null = null;
  error: AttemptError | null = null;
  durationMs = 0;
  /** Response that is no connection. */
  rejection?: HandshakeRejection = undefined;
  /** Headers of the response: alternating names, in lower case, and values. */
  responseHeaders: readonly string[] = [];
  private isDecided = false;
  private connectError?: Error = undefined;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private readonly socket: WebSocket;

  /** @param timeoutMs time for the response of the upstream */
  constructor(
    readonly target: Target,
    handshake: ClientHandshake,
    connect: buildConnector.connector,
    timeoutMs: number,
    private readonly listener: HandshakeListener,
  ) {
    this.socket = this.open(handshake, connect);
    this.timer = setTimeout(() => this.fail('timeout'), timeoutMs);
  }

  /** Whether the upstream works, but knows no WebSockets at this path. */
  get isUnsupported(): boolean {
    const { status, target } = this;
    if (status === null || target.failoverOn.includes(status)) return false;
    return UNSUPPORTED.has(status) || status < 300 || status === NOT_IMPLEMENTED;
  }

  /** Ends the attempt. The listener is not called any more. */
  cancel(): void {
    if (!this.isDecided) this.decide('cancelled');
    this.socket.terminate();
  }

  private open({ protocols, lines }: ClientHandshake, connect: buildConnector.connector): WebSocket {
    const { origin, path, upstreamLines } = this.target;
    // Node calls it with a callback, which the types lack.
    const createConnection = (_: unknown, callback: OnConnection) => this.connect(connect, callback);
    const options: ClientOptions & Pick<RequestOptions, 'maxHeaderSize'> = {
      ...SOCKET_OPTIONS,
      headers: toHeaders(upstreamLines + lines),
      maxHeaderSize: LIMIT_BYTES,
      createConnection: createConnection as unknown as ClientOptions['createConnection'],
      finishRequest: (request) => {
        request.path = path; // a URL would be normalized
        let informational = 0;
        request.on('information', () => ++informational > LIMIT_INFORMATIONAL && this.fail('malformed'));
        request.end();
      },
    };
    const socket = new WebSocket(origin, [...protocols], options);
    socket.on('upgrade', (response) => this.onUpgrade(response));
    socket.on('unexpected-response', (_, response) => this.onResponse(response));
    socket.on('error', (error) => this.fail(this.kindOf(error)));
    return socket;
  }

  private connect(connect: buildConnector.connector, callback: OnConnection): void {
    const { protocol, hostname, host, port } = new URL(this.target.origin);
    connect({ protocol, hostname, host, port }, (error, socket) => {
      if (error) this.connectError = error;
      callback(error, socket);
    });
  }

  private onUpgrade(response: IncomingMessage): void {
    if (hasTooManyFields(response)) return this.fail('malformed');
    this.responseHeaders = toRawHeaders(response);
    this.socket.on('open', () => this.onOpen(response.socket));
  }

  private onOpen(raw: Socket): void {
    if (this.isDecided) return;
    this.status = 101;
    this.decide(null);
    this.listener.onOpened(this, new RelayPeer(this.socket, raw));
  }

  private onResponse(response: IncomingMessage): void {
    if (hasTooManyFields(response)) return this.fail('malformed');
    const chunks: Buffer[] = [];
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > BODY_LIMIT_BYTES) this.fail('malformed');
    });
    response.on('error', () => this.fail('reset'));
    response.on('end', () => this.onRejection(response, Buffer.concat(chunks)));
  }

  private onRejection(response: IncomingMessage, body: Buffer): void {
    if (this.isDecided) return;
    const status = response.statusCode!;
    this.status = status;
    this.responseHeaders = toRawHeaders(response);
    this.rejection = { status, body };
    const isRedirect = status >= 300 && status < 400;
    const isFailure = status >= 500 || this.isUnsupported || this.target.failoverOn.includes(status);
    this.decide(isRedirect ? 'redirect' : isFailure ? 'status' : null);
    this.socket.terminate();
    this.listener.onRejected(this);
  }

  private kindOf(error: NodeJS.ErrnoException): FailureKind {
    if (this.connectError) return toFailureKind(this.connectError);
    const isReset = error.code !== undefined && !error.code.startsWith('HPE_');
    return isReset ? 'reset' : 'malformed'; // errors of the library itself have no code
  }

  private fail(kind: FailureKind): void {
    if (this.isDecided) return;
    this.decide(kind);
    this.socket.terminate();
    this.listener.onRejected(this);
  }

  private decide(error: AttemptError | null): void {
    this.isDecided = true;
    this.error = error;
    this.durationMs = performance.now() - this.startedAt;
    clearTimeout(this.timer);
  }
}

/** Receives the result of a handshake, once. */
export interface HandshakeListener {
  onOpened(handshake: UpstreamHandshake, peer: RelayPeer): void;
  onRejected(handshake: UpstreamHandshake): void;
}

/** Response of an upstream that rejected a WebSocket. */
export interface HandshakeRejection {
  readonly status: number;
  readonly body: Buffer;
}

type OnConnection = (error: Error | null, socket: Socket | null) => void;

/** Parses header lines, which the wire format of other requests needs. Repeated headers are joined (RFC 9110, 5.3). */
function toHeaders(lines: string): Record<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

function hasTooManyFields({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > 2 * LIMIT_FIELDS;
}

function toRawHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text));
}
