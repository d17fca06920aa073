import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Request as received. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly socket: Socket;
  /** Number of earlier requests on the same connection. */
  readonly precedingRequests: number;
}

/** Fake provider that can violate HTTP. */
export interface RawUpstream {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly requests: RawRequest[];
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Number of connections that were ever opened. */
  connectionCount: number;
  respond: Responder;
  close(): Promise<void>;
}

export type Responder = (request: RawRequest) => void;

/** @param respond receives every complete request and writes any bytes to its socket */
export async function startRawUpstream(respond: Responder): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    upstream.connectionCount++;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    readRequests(socket, (request) => {
      upstream.requests.push(request);
      upstream.respond(request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    sockets,
    connectionCount: 0,
    respond,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return upstream;
}

function readRequests(socket: Socket, onRequest: (request: RawRequest) => void): void {
  let pieces: Buffer[] = [];
  let missing = 1;
  let position = 0;
  socket.on('data', (piece) => {
    pieces.push(piece);
    missing -= piece.length;
    while (missing <= 0) {
      const bytes = Buffer.concat(pieces);
      pieces = [bytes];
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      const { method, target, headers } = parseHeaders(bytes.toString('latin1', 0, end));
      const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
      missing = bodyEnd - bytes.length;
      if (missing > 0) return;
      const rest = bytes.subarray(bodyEnd);
      pieces = [rest];
      missing = rest.length > 0 ? 0 : 1;
      onRequest({
        method,
        target,
        headers,
        body: bytes.subarray(end + 4, bodyEnd),
        socket,
        precedingRequests: position++,
      });
    }
  });
}

function parseHeaders(text: string): Pick<RawRequest, 'method' | 'target' | 'headers'> {
  const [requestLine = '', ...lines] = text.split('\r\n');
  const [method = '', target = ''] = requestLine.split(' ');
  return { method, target, headers: Object.fromEntries(lines.map((line) => parseField(line))) };
}

function parseField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Responds with a length and keeps the connection open. */
export function respondWith(
  body: string | Buffer,
  { status = 200, type = 'application/json', headers = '' } = {},
): Responder {
  return ({ socket, method }) => {
    const length = Buffer.byteLength(body);
    const headerText = `HTTP/1.1 ${status} Whatever\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${length}\r\n\r\n`;
    // A single write, because the second of two may wait until the first one is acknowledged.
    socket.write(
      method === 'HEAD' ? headerText : Buffer.concat([Buffer.from(headerText), Buffer.from(body)]),
    );
  };
}

/** Responds with these bytes. */
export function respondRaw(...pieces: (string | Buffer)[]): Responder {
  return ({ socket }) => {
    for (const piece of pieces) socket.write(piece);
  };
}

/** Responds and closes the connection. */
export function thenClose(respond: Responder): Responder {
  return (request) => {
    respond(request);
    request.socket.end();
  };
}

/** Headers of an event stream in chunks. */
export const STREAM_HEADERS =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Encodes one chunk. */
export function chunk(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';

/** Responds with an event stream, one chunk per event. */
export function respondWithEvents(...events: string[]): Responder {
  return ({ socket }) => {
    socket.write(Buffer.concat([Buffer.from(STREAM_HEADERS), ...events.map(chunk), Buffer.from(LAST_CHUNK)]));
  };
}
