/**
 * The mock upstream for streams, on raw sockets. The model of the request selects its behaviour:
 * - `paced`: a chunk every 20 ms until the client disconnects, spread evenly over the streams
 * - `short`: the first chunk immediately, four more at intervals of 20 ms, and the end
 * - `slow`: a chunk of 1 KiB every 240 ms
 * - `flood`: chunks of 1 KiB as fast as the client reads
 */
import { createServer } from 'node:net';
import type { Socket } from 'node:net';

const HEADERS =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nCache-Control: no-cache\r\n\r\n';
const SMALL = chunk('some words');
const LARGE = chunk('w'.repeat(850));
const END = Buffer.from('e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n');
const SHORT_CHUNKS = 5;
const PERIOD_MS = 20;
const SLOW_PERIODS = 12;

const sockets = new Map<Socket, () => void>();
let nextPhase = 0;

/** Streams by the millisecond of the period in which they send. The phases spread the chunks over the period. */
const phases = Array.from({ length: PERIOD_MS }, () => new Set<() => void>());

function chunk(content: string): Buffer {
  const data = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'mock',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  };
  const event = `data: ${JSON.stringify(data)}\n\n`;
  return Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`);
}

const MODELS: Record<string, (socket: Socket) => () => void> = {
  paced: (socket) => () => socket.write(SMALL),
  short: (socket) => {
    let sent = 1;
    socket.write(SMALL);
    return () => {
      if (++sent <= SHORT_CHUNKS) socket.write(SMALL);
      else finish(socket);
    };
  },
  slow: (socket) => {
    let periods = 0;
    return () => periods++ % SLOW_PERIODS === 0 && socket.write(LARGE);
  },
  flood: (socket) => {
    const fill = () => {
      while (socket.write(LARGE));
    };
    socket.on('drain', fill);
    fill();
    return () => undefined;
  },
};

function begin(socket: Socket, model: string): void {
  socket.write(HEADERS);
  const tick = MODELS[model]!(socket);
  const phase = phases[nextPhase++ % PERIOD_MS]!;
  phase.add(tick);
  sockets.set(socket, () => phase.delete(tick));
}

function finish(socket: Socket): void {
  sockets.get(socket)?.();
  sockets.delete(socket);
  if (!socket.destroyed) socket.write(END);
}

const server = createServer({ noDelay: true }, (socket) => {
  let request = '';
  socket.on('data', (bytes) => {
    request += bytes.toString('latin1');
    const [headers, body] = request.split('\r\n\r\n', 2);
    const length = Number(/content-length: (\d+)/i.exec(headers!)?.[1]);
    if (body === undefined || body.length < length) return;
    request = '';
    begin(socket, /"model": ?"(\w+)"/.exec(body)![1]!);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    sockets.get(socket)?.();
    sockets.delete(socket);
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));

let next = Math.floor(performance.now());
setInterval(() => {
  for (const now = performance.now(); next < now; next++) {
    for (const tick of phases[next % PERIOD_MS]!) tick();
  }
}, 1);
