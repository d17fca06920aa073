import type { MessageMemory } from './message-memory.js';
import { CloseCode } from './relay-peer.js';
import type { RelayPeer } from './relay-peer.js';

/** Side that ended the connection first. */
export type EndedBy = 'client' | 'upstream' | 'proxy';

/** Relays the messages between a client and an upstream, in both directions, until one of them closes. */
export class WebSocketRelay {
  private hasEnded = false;
  private readonly heartbeat: NodeJS.Timeout;
  /** Peers whose pong is outstanding. */
  private readonly silent = new Set<RelayPeer>();
  /** Messages of the client that arrived during a verification. */
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly client: RelayPeer,
    private readonly upstream: RelayPeer,
    private readonly listener: RelayListener,
    options: RelayOptions,
  ) {
    const [clientMemory, upstreamMemory] = [options.memoryOf(client), options.memoryOf(upstream)];
    client.socket.on('message', (data: Buffer, isBinary) => {
      this.onClientMessage(data, isBinary, clientMemory.take());
    });
    upstream.socket.on('message', (data: Buffer, isBinary) => {
      this.onUpstreamMessage(data, isBinary, upstreamMemory.take());
    });
    client.socket.on('close', (code, reason) => this.end('client', code, reason));
    upstream.socket.on('close', (code, reason) => this.end('upstream', code, reason));
    for (const peer of [client, upstream]) {
      peer.socket.on('error', ignore); // `close` follows
      peer.socket.on('pong', () => this.silent.delete(peer));
      // The pong of a peer that sends much may be late.
      peer.socket.on('message', () => this.silent.delete(peer));
    }
    this.heartbeat = setInterval(() => this.ping(), options.heartbeatMs).unref();
  }

  /** Passes no message of the client on until {@link resumeClient}. */
  pauseClient(): void {
    this.client.pause('verification');
  }

  resumeClient(): void {
    this.client.resume('verification');
    for (const pass of this.waiting.splice(0)) pass();
  }

  /** Ends the connection at both sides. @param code close code (RFC 6455, section 7.4) */
  close(code: number, reason: string): void {
    this.end('proxy', code, Buffer.from(reason));
  }

  private onClientMessage(data: Buffer, isBinary: boolean, free: () => void): void {
    if (this.client.isPausedFor('verification')) {
      this.waiting.push(() => this.passToUpstream(data, isBinary, free)); // was read before the pause
    } else this.passToUpstream(data, isBinary, free);
  }

  private passToUpstream(data: Buffer, isBinary: boolean, free: () => void): void {
    if (this.hasEnded || !this.listener.allows(data, isBinary)) free();
    else this.upstream.send(data, isBinary, this.client, free);
  }

  private onUpstreamMessage(data: Buffer, isBinary: boolean, free: () => void): void {
    if (this.hasEnded) return free();
    this.client.send(data, isBinary, this.upstream, free);
    if (!isBinary) this.listener.onUpstreamText(data);
  }

  private end(by: EndedBy, code: number, reason: Buffer): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearInterval(this.heartbeat);
    const { client, upstream } = this;
    if (by === 'client' && code === CloseCode.ABNORMAL) upstream.socket.terminate();
    else if (by === 'proxy') upstream.close(CloseCode.GOING_AWAY, '');
    else upstream.close(code, reason);
    const clientCode = code === CloseCode.ABNORMAL ? CloseCode.BAD_GATEWAY : code;
    // The client sees the end when the usage is recorded.
    this.listener.onEnd(by, code, () => client.close(clientCode, reason));
    for (const pass of this.waiting.splice(0)) pass(); // frees their memory
  }

  private ping(): void {
    for (const peer of [this.client, this.upstream]) {
      const { socket } = peer;
      if (this.silent.has(peer) && !peer.isPaused) socket.terminate();
      else if (socket.readyState === socket.OPEN) {
        this.silent.add(peer);
        socket.ping();
      }
    }
  }
}

export interface RelayOptions {
  /** Interval of the pings. A peer whose pong is outstanding at the next ping is disconnected. */
  readonly heartbeatMs: number;
  /** Creates the memory for the messages of a peer. */
  memoryOf(peer: RelayPeer): MessageMemory;
}

/** Observes a relay. */
export interface RelayListener {
  /** Decides whether a message of the client is passed on. A listener that rejects it closes the connection. */
  allows(data: Buffer, isBinary: boolean): boolean;
  onUpstreamText(data: Buffer): void;
  /** @param deliver closes the connection of the client */
  onEnd(by: EndedBy, code: number, deliver: () => void): void;
}

function ignore(): void {
  // the socket closes
}
