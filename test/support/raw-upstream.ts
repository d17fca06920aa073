import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A request as it came over the wire. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly socket: Socket;
  /** How many requests came before it on the same connection. */
  readonly position: number;
}

/** A provider that does anything, also what no HTTP server would. */
export interface RawUpstream {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly requests: RawRequest[];
  /** Those that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** How many were ever opened. */
  connections: number;
  answer: Answer;
  close(): Promise<void>;
}

export type Answer = (request: RawRequest) => void;

/** @param answer gets every request when it is complete, and writes what it likes to its socket */
export async function startRawUpstream(answer: Answer): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    upstream.connections++;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    readRequests(socket, (request) => {
      upstream.requests.push(request);
      upstream.answer(request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    sockets,
    connections: 0,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return upstream;
}

function readRequests(socket: Socket, take: (request: RawRequest) => void): void {
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
      const { method, target, headers } = readHead(bytes.toString('latin1', 0, end));
      const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
      missing = bodyEnd - bytes.length;
      if (missing > 0) return;
      const rest = bytes.subarray(bodyEnd);
      pieces = [rest];
      missing = rest.length > 0 ? 0 : 1;
      take({ method, target, headers, body: bytes.subarray(end + 4, bodyEnd), socket, position: position++ });
    }
  });
}

function readHead(head: string): Pick<RawRequest, 'method' | 'target' | 'headers'> {
  const [requestLine = '', ...lines] = head.split('\r\n');
  const [method = '', target = ''] = requestLine.split(' ');
  return { method, target, headers: Object.fromEntries(lines.map((line) => pairOf(line))) };
}

function pairOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** An answer with a length, after which the connection stays open. */
export function answerWith(
  body: string | Buffer,
  { status = 200, type = 'application/json', headers = '' } = {},
): Answer {
  return ({ socket, method }) => {
    const length = Buffer.byteLength(body);
    const head = `HTTP/1.1 ${status} Whatever\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${length}\r\n\r\n`;
    // In one piece: the second of two may wait until the first one is acknowledged.
    socket.write(method === 'HEAD' ? head : Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  };
}

/** These bytes, whatever they are. */
export function answerRaw(...pieces: (string | Buffer)[]): Answer {
  return ({ socket }) => {
    for (const piece of pieces) socket.write(piece);
  };
}

/** That answer, and the end of the connection. */
export function thenClose(answer: Answer): Answer {
  return (request) => {
    answer(request);
    request.socket.end();
  };
}

/** The head of an event stream in chunks. */
export const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

/** One chunk of the transfer. */
export function chunk(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';

/** A whole event stream, in one chunk an event. */
export function answerWithEvents(...events: string[]): Answer {
  return ({ socket }) => {
    socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), ...events.map(chunk), Buffer.from(LAST_CHUNK)]));
  };
}
