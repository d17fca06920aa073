import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

/** HTTP server on the loopback interface that takes the place of an upstream with WebSockets. */
export interface WebSocketUpstream {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Received handshakes, oldest first. */
  readonly handshakes: IncomingMessage[];
  /** Accepted connections, oldest first. */
  readonly sockets: WebSocket[];
  /** Received text messages of all connections. */
  readonly messages: string[];
  /** Takes the place of the acceptance of a handshake. */
  reject?: (request: IncomingMessage, socket: Duplex) => void;
  /** Handshakes wait for it. */
  delay?: Promise<unknown>;
  /** Responds to a message. */
  respond?: (message: string, socket: WebSocket) => void;
  close(): Promise<void>;
}

/** @param autoPong whether connections respond to pings */
export async function startWebSocketUpstream(autoPong = true): Promise<WebSocketUpstream> {
  const server: Server = createServer((_request, response) => response.writeHead(404).end('{}'));
  const acceptor = new WebSocketServer({ noServer: true, autoPong });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const raw = new Set<Duplex>();
  const upstream: WebSocketUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handshakes: [],
    sockets: [],
    messages: [],
    close: () =>
      new Promise((resolve) => {
        for (const socket of raw) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    raw.add(socket);
    upstream.handshakes.push(request);
    if (upstream.reject) return upstream.reject(request, socket);
    await upstream.delay;
    acceptor.handleUpgrade(request, socket, head, (accepted) => {
      upstream.sockets.push(accepted);
      accepted.on('message', (data: Buffer, isBinary) => {
        if (isBinary) return accepted.send(data);
        upstream.messages.push(data.toString());
        upstream.respond?.(data.toString(), accepted);
      });
    });
  };
  server.on('upgrade', (request, socket, head) => void accept(request, socket, head));
  return upstream;
}

/** Rejects a handshake with a response. */
export function rejectWith(status: number, body = '{"error":{"message":"no"}}', headers = '') {
  return (_request: IncomingMessage, socket: Duplex) => {
    const head = `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    socket.end(`${head}\r\n${headers}connection: close\r\n\r\n${body}`);
  };
}
