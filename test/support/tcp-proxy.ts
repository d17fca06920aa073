import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A server as it is seen over the network; what is behind the address can go away, and another can come. */
export interface TcpProxy {
  readonly port: number;
  /** Cuts all connections, and every new one at once. */
  goAway(): void;
  /** Leads new connections to this port on this machine. */
  comeBack(targetPort: number): void;
  stop(): Promise<void>;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let targetPort: number | undefined = target;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (targetPort === undefined) {
      client.resetAndDestroy();
      return;
    }
    const service = connect(targetPort, '127.0.0.1');
    client.pipe(service).pipe(client);
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = () => sockets.forEach((socket) => socket.resetAndDestroy());
  return {
    port: (server.address() as AddressInfo).port,
    goAway: () => {
      targetPort = undefined;
      cutAll();
    },
    comeBack: (port) => (targetPort = port),
    stop: async () => {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
