import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { buildConnector } from 'undici';
import { Settings } from '../config/settings.js';
import { AddressGuard } from '../upstreams/address-guard.js';
import { connectFailureOf } from '../upstreams/connect-failure.js';
import { guardedConnector } from '../upstreams/guarded-connector.js';
import { UPSTREAM_READING, UpstreamConnection } from './upstream-connection.js';
import type { AnswerListener, FailureKind, WireRequest } from './upstream-connection.js';

const IDLE_TIMEOUT_MS = 15_000;
const SWEEP_INTERVAL_MS = 1_000;
const IDLE_LIMIT = 256;

/** The connections to all upstreams, kept open between requests; those of one origin are shared. */
@Injectable()
export class UpstreamConnections implements OnApplicationShutdown {
  private readonly idle = new Map<string, UpstreamConnection[]>();
  private readonly connect: buildConnector.connector;
  private readonly sweeper = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();

  constructor(guard: AddressGuard, settings: Settings) {
    this.connect = guardedConnector(guard, {
      timeout: settings.upstreamConnectTimeoutMs,
      onread: UPSTREAM_READING,
    });
  }

  /**
   * Sends a request, over a connection that is there or a new one.
   * @param origin scheme, host and port
   * @param fresh whether it has to be a new one
   */
  send(origin: string, request: WireRequest, listener: AnswerListener, fresh = false): Transfer {
    const connection = fresh ? undefined : this.take(origin);
    const transfer = new Transfer(connection);
    if (connection) connection.send(request, listener);
    else this.dial(origin, request, listener, transfer);
    return transfer;
  }

  onApplicationShutdown(): void {
    clearInterval(this.sweeper);
    for (const connections of this.idle.values()) {
      for (const connection of connections) connection.destroy();
    }
    this.idle.clear();
  }

  /** The one that was used last, so that those that are not needed grow old. */
  private take(origin: string): UpstreamConnection | undefined {
    const connections = this.idle.get(origin);
    for (;;) {
      const connection = connections?.pop();
      if (!connection || connection.usable) return connection;
    }
  }

  private dial(origin: string, request: WireRequest, listener: AnswerListener, transfer: Transfer): void {
    const { protocol, hostname, host, port } = new URL(origin);
    this.connect({ protocol, hostname, host, port }, (error, socket) => {
      if (error) {
        if (!transfer.cancelled) listener.failed(failureOf(error), false);
        return;
      }
      const connection = new UpstreamConnection(socket, (free) => this.keep(origin, free));
      if (transfer.cancelled) return this.keep(origin, connection);
      transfer.connected(connection);
      connection.send(request, listener);
    });
  }

  private keep(origin: string, connection: UpstreamConnection): void {
    let connections = this.idle.get(origin);
    if (!connections) this.idle.set(origin, (connections = []));
    if (connections.length >= IDLE_LIMIT) return connection.destroy();
    connection.idleSince = performance.now();
    connections.push(connection);
  }

  private sweep(): void {
    const tooOld = performance.now() - IDLE_TIMEOUT_MS;
    for (const [origin, connections] of this.idle) {
      const kept = connections.filter((connection) => {
        if (connection.usable && connection.idleSince > tooOld) return true;
        connection.destroy();
        return false;
      });
      if (kept.length > 0) this.idle.set(origin, kept);
      else this.idle.delete(origin);
    }
  }
}

/** A request that was sent. Not to be used any more once its answer has ended: the connection may be another's. */
export class Transfer {
  cancelled = false;

  constructor(private connection?: UpstreamConnection) {}

  /** @internal */
  connected(connection: UpstreamConnection): void {
    this.connection = connection;
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  /** Gives the request up, at once; nothing more is told of it. */
  cancel(): void {
    this.cancelled = true;
    this.connection?.destroy();
  }
}

function failureOf(error: Error): FailureKind {
  const failure = connectFailureOf(error);
  return failure === 'certificate' ? 'tls' : failure;
}
