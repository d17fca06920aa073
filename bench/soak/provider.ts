import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** Usage block of every response. */
export const PROVIDER_USAGE = { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 };
export const STREAM_EVENTS = 12;
/** Suffix of the keys of upstreams that sometimes respond with 503. */
export const UNRELIABLE = '-unreliable';
const UNRELIABLE_SHARE = 0.05;
const EVENT_INTERVAL_MS = 120;

export interface Provider {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  /** Repeated in the response. */
  readonly user: string;
}

/** Simulates the providers of all owners. Each response repeats the key of its request. */
export async function startProvider(): Promise<Provider> {
  const server = createServer((request, response) => {
    const key = request.headers.authorization ?? '';
    json(request)
      .then((chat) => respond(key, chat as ChatRequest, response))
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

async function respond(authorization: string, chat: ChatRequest, response: ServerResponse): Promise<void> {
  const key = authorization.replace('Bearer ', '');
  if (key.endsWith(UNRELIABLE) && Math.random() < UNRELIABLE_SHARE) {
    response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"error":{"message":"overloaded"}}');
    return;
  }
  const owner = key.replace(UNRELIABLE, '');
  if (chat.stream) return stream(owner, chat, response);
  const message = { role: 'assistant', content: `${owner} ${chat.user}` };
  const body = { model: chat.model, choices: [{ index: 0, message }], usage: PROVIDER_USAGE };
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

async function stream(owner: string, { model, user }: ChatRequest, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let i = 0; i < STREAM_EVENTS && !response.destroyed; i++) {
    const delta = { content: `${owner} ${user} ${i}` };
    response.write(`data: ${JSON.stringify({ model, choices: [{ index: 0, delta }] })}\n\n`);
    await pause(EVENT_INTERVAL_MS);
  }
  response.write(`data: ${JSON.stringify({ model, choices: [], usage: PROVIDER_USAGE })}\n\n`);
  response.end('data: [DONE]\n\n');
}
