import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What becomes of a request: it is passed on; it is kept, and passed on when it is let go and its client still waits
 * for it; the same, but also for a client that has gone; or it is passed on and the answer is lost.
 */
export type Fate = 'pass' | 'hang' | 'arrive late' | 'lose the answer';

/** An S3 service as it is seen over a bad network. */
export interface S3Proxy {
  readonly endpoint: URL;
  /** Decides on every request that comes, by its method and the key of its object. */
  onRequest: (method: string, key: string) => Fate;
  /** How many requests wait to be let go. */
  readonly waiting: () => number;
  /** From now on everything passes, also what waits; resolves when all of that has arrived. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

export async function startS3Proxy(target: URL, port = 0): Promise<S3Proxy> {
  const held = new Set<() => Promise<void>>();
  const server = createServer((request, response) => {
    void buffer(request)
      .catch(() => undefined) // the client has gone
      .then((body) => body && decide(request, body, response));
  });

  async function decide(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const key = request.url!.split('?')[0]!.split('/').slice(2).join('/');
    const fate = proxy.onRequest(request.method!, key);
    if (fate === 'pass') await forward(target, request, body, response);
    if (fate === 'lose the answer') await forward(target, request, body);
    if (fate === 'hang' || fate === 'arrive late') {
      const letGo = () => forward(target, request, body, response);
      held.add(letGo);
      if (fate === 'hang') response.once('close', () => held.delete(letGo));
    }
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const proxy: S3Proxy = {
    endpoint: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    onRequest: () => 'pass',
    waiting: () => held.size,
    recover: async () => {
      proxy.onRequest = () => 'pass';
      const released = [...held];
      held.clear();
      await Promise.all(released.map((letGo) => letGo()));
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

/** Without a response to write to, the answer is thrown away. */
async function forward(
  target: URL,
  { method, url, rawHeaders }: IncomingMessage,
  body: Buffer,
  response?: ServerResponse,
): Promise<void> {
  const outgoing = sendRequest(new URL(url!, target), { method, headers: pairs(rawHeaders), agent: false });
  outgoing.end(body);
  try {
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const content = await buffer(answer);
    if (!response || response.closed) return;
    response.writeHead(answer.statusCode!, pairs(answer.rawHeaders)).end(content);
  } catch {
    response?.destroy(); // the service is gone: so is this one
  }
}

/** As they came: the signature covers them. A body that came in chunks is sent whole, so lengths are ours. */
function pairs(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) headers[rawHeaders[i]!.toLowerCase()] = rawHeaders[i + 1]!;
  delete headers.connection;
  delete headers['transfer-encoding'];
  return headers;
}
