import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * Treatment of a request:
 * - `pass`: forward it
 * - `hang`: hold it until {@link S3Proxy.recover}, and forward it if the client still waits
 * - `arrive late`: hold it until {@link S3Proxy.recover}, and forward it in any case
 * - `lose the response`: forward it and drop the response
 * - `deny`: respond with 403, as for a missing right
 * - `deny with another code`: respond with 403 and a code that Amazon does not have
 * - `deny with a page`: respond with 403 and HTML, as a firewall in front of the service
 */
type Fate = 'pass' | 'hang' | 'arrive late' | 'lose the response' | keyof typeof DENIALS;

const denial = (code: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>Access Denied.</Message></Error>`;
const DENIALS = {
  deny: denial('AccessDenied'),
  'deny with another code': denial('Other'),
  'deny with a page': '<!doctype html><title>403</title><p>Forbidden<br></body>',
};

/** S3 service behind an unreliable network. */
export interface S3Proxy {
  readonly endpoint: URL;
  /** Decides on each request, by its method and the key of its object. */
  onRequest: (method: string, key: string) => Fate;
  /** Number of held requests. */
  readonly waiting: () => number;
  /** Forwards all held and later requests. Resolves when the held requests have arrived. */
  recover(): Promise<void>;
  /** Closes the connections of all held requests without a response, and forwards later requests. */
  fail(): void;
  stop(): Promise<void>;
}

export async function startS3Proxy(target: URL, port = 0): Promise<S3Proxy> {
  const held = new Map<ServerResponse, () => Promise<void>>();
  const server = createServer((request, response) => {
    void buffer(request)
      .catch(() => undefined) // the client has disconnected
      .then((body) => body && decide(request, body, response));
  });

  async function decide(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const key = request.url!.split('?')[0]!.split('/').slice(2).join('/');
    const fate = proxy.onRequest(request.method!, key);
    if (fate === 'pass') await forward(target, request, body, response);
    if (fate in DENIALS) {
      const type = fate === 'deny with a page' ? 'text/html' : 'application/xml';
      response.writeHead(403, { 'content-type': type }).end(DENIALS[fate as keyof typeof DENIALS]);
    }
    if (fate === 'lose the response') await forward(target, request, body);
    if (fate === 'hang' || fate === 'arrive late') {
      const letGo = () => forward(target, request, body, response);
      held.set(response, letGo);
      if (fate === 'hang') response.once('close', () => held.delete(response));
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
      const released = [...held.values()];
      held.clear();
      await Promise.all(released.map((letGo) => letGo()));
    },
    fail: () => {
      proxy.onRequest = () => 'pass';
      for (const response of held.keys()) response.destroy();
      held.clear();
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

/** Forwards a request. Drops the upstream response if there is no client response. */
async function forward(
  target: URL,
  { method, url, rawHeaders }: IncomingMessage,
  body: Buffer,
  response?: ServerResponse,
): Promise<void> {
  const outgoing = sendRequest(new URL(url!, target), { method, headers: pairs(rawHeaders), agent: false });
  outgoing.end(body);
  try {
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const content = await buffer(incoming);
    if (!response || response.closed) return;
    response.writeHead(incoming.statusCode!, pairs(incoming.rawHeaders)).end(content);
  } catch {
    response?.destroy(); // reports the lost service to the client
  }
}

/** Keeps the headers, because the signature covers them. The body is complete, so hop-by-hop headers are removed. */
function pairs(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) headers[rawHeaders[i]!.toLowerCase()] = rawHeaders[i + 1]!;
  delete headers.connection;
  delete headers['transfer-encoding'];
  return headers;
}
