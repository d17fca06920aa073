import type { IncomingMessage } from 'node:http';
import { WebSocketServer } from 'ws';
import type { ServerOptions } from 'ws';
import type { HttpResponse } from '../../http/http-exchange.js';
import { PipelinedReader } from '../../http/server/pipelined-reader.js';
import { RelayPeer } from './relay-peer.js';

/** Maximum size of a message. Messages are kept in memory until they are complete. */
export const MESSAGE_LIMIT_BYTES = 4 * 1_024 * 1_024;
/** Time that a peer has for its part of the closing handshake. */
export const CLOSE_TIMEOUT_MS = 5_000;

/** Options of both sides. */
export const SOCKET_OPTIONS = {
  perMessageDeflate: false,
  maxPayload: MESSAGE_LIMIT_BYTES,
  /** Other connections get a turn between two messages that arrived together. */
  allowSynchronousEvents: false,
  /** The types of `ws` lack it. */
  closeTimeout: CLOSE_TIMEOUT_MS,
} as const;

/**
 * Accepts the handshake of a client.
 * @param protocol subprotocol that the upstream selected; empty for none
 * @param headers additional headers of the response: alternating names and values
 * @param onEnding called when the server stops: the connection has to end
 * @returns undefined if the connection was closed or cannot be taken over
 */
export function acceptClient(
  response: HttpResponse,
  protocol: string,
  headers: readonly string[],
  onEnding: () => void,
): RelayPeer | undefined {
  const upgraded = PipelinedReader.takeOver(response, onEnding);
  if (!upgraded) return undefined;
  const options: ServerOptions = {
    ...SOCKET_OPTIONS,
    noServer: true,
    clientTracking: false,
    handleProtocols: () => protocol || false,
  };
  const server = new WebSocketServer(options);
  server.on('headers', (lines) => {
    for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  });
  let client: RelayPeer | undefined;
  const { socket, head } = upgraded;
  // Other requests than those of Node's parser have no Upgrade header and do not come here.
  server.handleUpgrade(response.req as IncomingMessage, socket, head, (accepted) => {
    client = new RelayPeer(accepted, socket);
  });
  return client;
}
