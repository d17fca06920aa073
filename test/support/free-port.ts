import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux gives to connections, and to servers that listen on port 0. */
const FIRST_PORT = 20_000;
const PORTS_PER_WORKER = 1_000;
const WORKERS = 12;

/** Two runs on one machine begin at different ports. */
let next = Math.floor(Math.random() * PORTS_PER_WORKER);

/** A port that stays free until the test uses it: each worker has ports of its own, and gives them out in turn. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env.JEST_WORKER_ID ?? 0) % WORKERS;
  for (;;) {
    const port = FIRST_PORT + worker * PORTS_PER_WORKER + (next++ % PORTS_PER_WORKER);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
