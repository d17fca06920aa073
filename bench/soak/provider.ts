import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** What it says of every answer. */
export const PROVIDER_USAGE = { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 };
export const STREAM_EVENTS = 12;
/** Of the upstreams whose key ends so, some answers are 503. */
export const UNRELIABLE = '-unreliable';
const UNRELIABLE_SHARE = 0.05;
const EVENT_INTERVAL_MS = 120;

export interface Provider {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
  /** Comes back in the answer. */
  readonly user: string;
}

/** Stands for the providers of all owners: it answers with the key that it was asked with. */
export async function startProvider(): Promise<Provider> {
  const server = createServer((request, response) => {
    const key = request.headers.authorization ?? '';
    json(request)
      .then((asked) => answer(key, asked as Asked, response))
      .catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(authorization: string, asked: Asked, response: ServerResponse): Promise<void> {
  const key = authorization.replace('Bearer ', '');
  if (key.endsWith(UNRELIABLE) && Math.random() < UNRELIABLE_SHARE) {
    response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"error":{"message":"overloaded"}}');
    return;
  }
  const owner = key.replace(UNRELIABLE, '');
  if (asked.stream) return stream(owner, asked, response);
  const message = { role: 'assistant', content: `${owner} ${asked.user}` };
  const body = { model: asked.model, choices: [{ index: 0, message }], usage: PROVIDER_USAGE };
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

async function stream(owner: string, { model, user }: Asked, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let i = 0; i < STREAM_EVENTS && !response.destroyed; i++) {
    const delta = { content: `${owner} ${user} ${i}` };
    response.write(`data: ${JSON.stringify({ model, choices: [{ index: 0, delta }] })}\n\n`);
    await pause(EVENT_INTERVAL_MS);
  }
  response.write(`data: ${JSON.stringify({ model, choices: [], usage: PROVIDER_USAGE })}\n\n`);
  response.end('data: [DONE]\n\n');
}
