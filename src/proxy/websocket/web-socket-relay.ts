import type { WebSocket } from 'ws';

/** Bytes that wait for a peer before the other peer is not read any more. */
const HIGH_WATER_BYTES = 1_048_576;
const LOW_WATER_BYTES = 262_144;

const NO_STATUS = 1_005;
const ABNORMAL = 1_006;
export const GOING_AWAY = 1_001;
export const UNSUPPORTED_DATA = 1_003;
export const POLICY_VIOLATION = 1_008;
export const TRY_AGAIN_LATER = 1_013;
const BAD_GATEWAY = 1_014;

/** Side that ended the connection first. */
export type EndedBy = 'client' | 'upstream' | 'proxy';

/** Relays the messages between a client and an upstream, in both directions, until one of them closes. */
export class WebSocketRelay {
  private hasEnded = false;
  private readonly heartbeat: NodeJS.Timeout;
  /** Sockets that have not answered the last ping. */
  private readonly silent = new Set<WebSocket>();

  /** @param heartbeatMs interval of the pings; a peer that does not answer until the next one is disconnected */
  constructor(
    private readonly client: WebSocket,
    private readonly upstream: WebSocket,
    private readonly listener: RelayListener,
    heartbeatMs: number,
  ) {
    client.on('message', (data: Buffer, isBinary) => {
      if (!this.hasEnded && this.listener.allows(data, isBinary)) pass(client, upstream, data, isBinary);
    });
    upstream.on('message', (data: Buffer, isBinary) => {
      if (this.hasEnded) return;
      pass(upstream, client, data, isBinary);
      if (!isBinary) this.listener.onUpstreamText(data);
    });
    client.on('close', (code, reason) => this.end('client', code, reason));
    upstream.on('close', (code, reason) => this.end('upstream', code, reason));
    for (const socket of [client, upstream]) {
      socket.on('error', ignore); // `close` follows
      socket.on('pong', () => this.silent.delete(socket));
      // A peer that sends much may answer late.
      socket.on('message', () => this.silent.delete(socket));
    }
    this.heartbeat = setInterval(() => this.ping(), heartbeatMs).unref();
  }

  /** Ends the connection at both sides. @param code close code (RFC 6455, section 7.4) */
  close(code: number, reason: string): void {
    this.end('proxy', code, Buffer.from(reason));
  }

  private end(by: EndedBy, code: number, reason: Buffer): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearInterval(this.heartbeat);
    const { client, upstream } = this;
    if (by === 'client' && code === ABNORMAL) upstream.terminate();
    else closeSocket(upstream, by === 'proxy' ? GOING_AWAY : code, by === 'proxy' ? '' : reason);
    // The client sees the end when the usage is recorded.
    this.listener.onEnd(by, code, () => closeSocket(client, code === ABNORMAL ? BAD_GATEWAY : code, reason));
  }

  private ping(): void {
    for (const socket of [this.client, this.upstream]) {
      if (this.silent.has(socket) && !socket.isPaused) socket.terminate();
      else if (socket.readyState === socket.OPEN) {
        this.silent.add(socket);
        socket.ping();
      }
    }
  }
}

/** Observes a relay. */
export interface RelayListener {
  /** Decides whether a message of the client is passed on. A listener that rejects it closes the connection. */
  allows(data: Buffer, isBinary: boolean): boolean;
  onUpstreamText(data: Buffer): void;
  /** @param deliver closes the connection of the client */
  onEnd(by: EndedBy, code: number, deliver: () => void): void;
}

/** Passes a message on, and stops reading its sender while the receiver is slow. */
function pass(from: WebSocket, to: WebSocket, data: Buffer, binary: boolean): void {
  if (to.readyState !== to.OPEN) return;
  to.send(data, { binary }, () => {
    if (from.isPaused && to.bufferedAmount <= LOW_WATER_BYTES) from.resume();
  });
  if (to.bufferedAmount > HIGH_WATER_BYTES) from.pause();
}

function closeSocket(socket: WebSocket, code: number, reason: Buffer | string): void {
  socket.resume(); // the closing handshake has to be read
  if (code === NO_STATUS) socket.close();
  else socket.close(code, reason);
}

function ignore(): void {
  // the socket closes
}
