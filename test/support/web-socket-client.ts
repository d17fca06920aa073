import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { TestApp } from './app.js';

/** WebSocket of a client of the proxy. */
export interface TestSocket {
  readonly socket: WebSocket;
  /** Response to the handshake. */
  readonly response: IncomingMessage;
  /** Received messages. */
  readonly messages: (string | Buffer)[];
  /** Resolves with close code and reason. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
}

/** Response to a handshake that opened no WebSocket. */
export interface Rejection {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Options {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly protocols?: readonly string[];
  readonly autoPong?: boolean;
}

const PATH = '/v1/realtime?model=gpt-realtime';

/** Opens a WebSocket; rejects if the handshake fails. @param key undefined for no `Authorization` header */
export async function openSocket(
  app: Pick<TestApp, 'url'>,
  key: string | undefined,
  options: Options = {},
): Promise<TestSocket> {
  const result = await tryToOpen(app, key, options);
  if ('status' in result) throw new Error(`rejected with ${result.status}: ${result.body}`);
  return result;
}

/** Sends a handshake that is rejected. */
export async function rejectedSocket(
  app: Pick<TestApp, 'url'>,
  key: string | undefined,
  options: Options = {},
): Promise<Rejection> {
  const result = await tryToOpen(app, key, options);
  if ('socket' in result) throw new Error('the handshake was accepted');
  return result;
}

function tryToOpen(
  { url }: Pick<TestApp, 'url'>,
  key: string | undefined,
  { path = PATH, headers, protocols = [], autoPong = true }: Options,
): Promise<TestSocket | Rejection> {
  const credential = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const all = { ...credential, ...headers };
  const socket = new WebSocket(`${url}${path}`, [...protocols], { headers: all, autoPong });
  const messages: TestSocket['messages'] = [];
  socket.on('message', (data: Buffer, isBinary) => messages.push(isBinary ? data : data.toString()));
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.on('close', (code, reason) => resolve([code, reason.toString()]));
  });
  return new Promise((resolve, reject) => {
    let response: IncomingMessage;
    socket.on('upgrade', (accepted) => (response = accepted));
    socket.on('open', () => resolve({ socket, response, messages, closed }));
    socket.on('error', reject);
    socket.on('unexpected-response', (_, rejected) => {
      const chunks: Buffer[] = [];
      rejected.on('data', (chunk: Buffer) => chunks.push(chunk));
      rejected.on('end', () => {
        resolve({
          status: rejected.statusCode!,
          headers: rejected.headers,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
  });
}
