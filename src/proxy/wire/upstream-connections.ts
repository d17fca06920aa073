import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { buildConnector } from 'undici';
import { Settings } from '../../config/settings.js';
import { AddressGuard } from '../../upstreams/network/address-guard.js';
import { classifyConnectError, guardedConnector } from '../../upstreams/network/guarded-connector.js';
import { SOCKET_READ_OPTIONS, UpstreamConnection } from './upstream-connection.js';
import type { ResponseListener, FailureKind, WireRequest } from './upstream-connection.js';

const IDLE_TIMEOUT_MS = 15_000;
const SWEEP_INTERVAL_MS = 1_000;
const IDLE_LIMIT = 256;
const MAX_CONNECTORS = 1_000;

/** Keeps the connections to all upstreams open between requests. Requests to one origin share the connections. */
@Injectable()
export class UpstreamConnections implements OnApplicationShutdown {
  private readonly idle = new Map<string, UpstreamConnection[]>();
  /** Connectors by organization, on whose behalf host names are resolved. */
  private readonly connectors = new LRUCache<number, buildConnector.connector>({ max: MAX_CONNECTORS });
  private readonly sweeper = setInterval(() => this.closeExpired(), SWEEP_INTERVAL_MS).unref();

  constructor(
    private readonly guard: AddressGuard,
    private readonly settings: Settings,
  ) {}

  /**
   * Sends a request over an idle connection or a new one.
   * @param useNewConnection whether idle connections are ignored
   */
  send(
    to: Destination,
    request: WireRequest,
    listener: ResponseListener,
    useNewConnection = false,
  ): UpstreamRequest {
    const connection = useNewConnection ? undefined : this.takeIdle(to.origin);
    const upstreamRequest = new UpstreamRequest(connection);
    if (connection) connection.send(request, listener);
    else this.connect(to, request, listener, upstreamRequest);
    return upstreamRequest;
  }

  onApplicationShutdown(): void {
    clearInterval(this.sweeper);
    for (const connections of this.idle.values()) {
      for (const connection of connections) connection.destroy();
    }
    this.idle.clear();
  }

  /** Takes the most recently used connection, so that surplus connections reach the idle timeout. */
  private takeIdle(origin: string): UpstreamConnection | undefined {
    const connections = this.idle.get(origin);
    for (;;) {
      const connection = connections?.pop();
      if (!connection || connection.isUsable) return connection;
    }
  }

  private connect(
    to: Destination,
    request: WireRequest,
    listener: ResponseListener,
    upstreamRequest: UpstreamRequest,
  ): void {
    const { origin, organizationId } = to;
    const connect = this.connectors.get(organizationId) ?? this.createConnector(organizationId);
    const { protocol, hostname, host, port } = new URL(origin);
    connect({ protocol, hostname, host, port }, (error, socket) => {
      if (error) {
        if (!upstreamRequest.isCancelled) listener.onError(toFailureKind(error), false);
        return;
      }
      const connection = new UpstreamConnection(socket, (idle) => this.addIdle(origin, idle));
      if (upstreamRequest.isCancelled) return this.addIdle(origin, connection);
      upstreamRequest.onConnection(connection);
      connection.send(request, listener);
    });
  }

  private createConnector(organizationId: number): buildConnector.connector {
    const options = { timeout: this.settings.upstreamConnectTimeoutMs, onread: SOCKET_READ_OPTIONS };
    const connector = guardedConnector(this.guard, { organizationId }, options);
    this.connectors.set(organizationId, connector);
    return connector;
  }

  private addIdle(origin: string, connection: UpstreamConnection): void {
    let connections = this.idle.get(origin);
    if (!connections) this.idle.set(origin, (connections = []));
    if (connections.length >= IDLE_LIMIT) return connection.destroy();
    connection.idleSince = performance.now();
    connections.push(connection);
  }

  private closeExpired(): void {
    const tooOld = performance.now() - IDLE_TIMEOUT_MS;
    for (const [origin, connections] of this.idle) {
      const open = connections.filter((connection) => {
        if (connection.isUsable && connection.idleSince > tooOld) return true;
        connection.destroy();
        return false;
      });
      if (open.length > 0) this.idle.set(origin, open);
      else this.idle.delete(origin);
    }
  }
}

/** Address of an upstream. */
export interface Destination {
  readonly organizationId: number;
  /** Scheme, host and port. */
  readonly origin: string;
}

/** Request that was sent. Must not be used after its response ended, because the connection may serve another request. */
export class UpstreamRequest {
  isCancelled = false;

  constructor(private connection?: UpstreamConnection) {}

  /** @internal */
  onConnection(connection: UpstreamConnection): void {
    this.connection = connection;
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  /** Cancels the request at once. The listener is not called again. */
  cancel(): void {
    this.isCancelled = true;
    this.connection?.destroy();
  }
}

/** @param error of a connection that could not be opened */
export function toFailureKind(error: Error): FailureKind {
  const failure = classifyConnectError(error);
  return failure === 'certificate' ? 'tls' : failure;
}
