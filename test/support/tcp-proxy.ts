import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { Readable } from 'node:stream';

/** Server as clients see it over the network. The server behind the address can go away and be replaced. */
export interface TcpProxy {
  /** The server's, with this address in place of its own. */
  readonly url: string;
  /** Cuts all connections, and every new one at once. */
  goAway(): void;
  /** Nothing gets through any more, and nobody is told: as if the host were lost. */
  hang(): void;
  /** Leads new connections to the server of this URL. Those that hang go on to. */
  comeBack(url: string): void;
  stop(): Promise<void>;
}

/** Edits the bytes on their way, as Latin-1. The number of bytes must not change, because the protocol counts them. */
interface Alteration {
  readonly ofRequests?: (text: string) => string;
  readonly ofResponses?: (text: string) => string;
}

const portOf = (url: string) => Number(new URL(url).port);

/**
 * @param url of a server on this machine
 * @param altering edits that make the server look like another one
 */
export async function startTcpProxy(url: string, altering: Alteration = {}): Promise<TcpProxy> {
  let targetPort: number | undefined = portOf(url);
  let isHanging = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (targetPort === undefined) {
      client.resetAndDestroy();
      return;
    }
    client.on('error', () => undefined);
    if (isHanging) {
      sockets.add(client);
      client.on('close', () => sockets.delete(client));
      return;
    }
    const service = connect(targetPort, '127.0.0.1');
    altered(client, altering.ofRequests).pipe(service);
    altered(service, altering.ofResponses).pipe(client);
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
  const address = new URL(url);
  address.port = String((server.address() as AddressInfo).port);
  const cutAll = () => sockets.forEach((socket) => socket.resetAndDestroy());
  return {
    url: address.href,
    goAway: () => {
      targetPort = undefined;
      cutAll();
    },
    hang: () => {
      isHanging = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    comeBack: (back) => {
      targetPort = portOf(back);
      isHanging = false;
    },
    stop: async () => {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}

function altered(socket: Socket, alter?: (text: string) => string): Readable {
  if (!alter) return socket;
  const transform = (chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void) =>
    done(null, Buffer.from(alter(chunk.toString('latin1')), 'latin1'));
  return socket.pipe(new Transform({ transform }));
}
