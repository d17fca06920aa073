import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const DIST = join(import.meta.dirname, '../../../dashboard/dist');
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
/** Paths below these are never the application. */
const SERVICE_PATHS = /^\/(me|v1|auth|oauth|docs|dashboard|dev|openapi\.json|healthz|readyz|metrics)(\/|$)/;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; " +
  "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; connect-src 'self'";

/** Response to `GET /dashboard/config.json`. */
interface Config {
  readonly sign_in: SignIn;
}

/** Way to sign in, as the response tells it. */
export interface SignIn {
  readonly kind: 'development' | 'supabase' | 'redirect' | 'none';
  readonly url?: string;
  readonly anon_key?: string;
}

/** The dashboard and the service under one origin. */
export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `dashboard/dist` and passes all other requests to the service. Only a service that does not serve the
 * dashboard itself needs it.
 */
export async function startSite(serviceUrl: string, config: Config): Promise<Site> {
  const server = createServer((incoming, response) => void serve(serviceUrl, config, incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => close(server) };
}

async function serve(
  serviceUrl: string,
  config: Config,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url!, serviceUrl);
  if (pathname === '/dashboard/config.json')
    return sendJson(response, { version: 'test', public_url: serviceUrl, ...config });
  if (pathname === '/auth/session') return void response.writeHead(204).end();
  if (pathname.endsWith('/export')) return sendExport(serviceUrl, incoming, response, pathname, searchParams);
  if (SERVICE_PATHS.test(pathname)) return forward(serviceUrl, incoming, response);
  const { kind, url } = config.sign_in;
  response.setHeader(
    'Content-Security-Policy',
    kind === 'supabase' ? `${POLICY} ${new URL(url!).origin}` : POLICY,
  );
  await sendFile(incoming, response, pathname.startsWith('/assets/') ? pathname : '/index.html');
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

/** Sends the brotli variant if there is one. */
async function sendFile(incoming: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  const isCompressed = incoming.headers['accept-encoding']?.includes('br');
  const compressed = isCompressed
    ? await readFile(join(DIST, `${path}.br`)).catch(() => undefined)
    : undefined;
  const bytes = compressed ?? (await readFile(join(DIST, path)).catch(() => undefined));
  if (!bytes) return void response.writeHead(404).end();
  response.setHeader('Content-Type', type);
  if (compressed) response.setHeader('Content-Encoding', 'br');
  response.setHeader(
    'Cache-Control',
    path === '/index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
  );
  response.end(bytes);
}

function forward(serviceUrl: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url } = incoming;
  const target = new URL(url!, serviceUrl);
  const outgoing = request(target, { method, headers: ownOrigin(headers, target) }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** Headers as a browser would send them to the service directly. */
function ownOrigin(headers: IncomingMessage['headers'], target: URL): IncomingMessage['headers'] {
  return { ...headers, host: target.host, ...(headers.origin && { origin: target.origin }) };
}

/** Packs the documents of a project, as the service's export does. */
async function sendExport(
  serviceUrl: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  pathname: string,
  search: URLSearchParams,
): Promise<void> {
  const { strToU8, zipSync } = await import('fflate');
  const headers = { Authorization: incoming.headers.authorization ?? '' };
  const base = `${serviceUrl}${pathname.replace(/export$/, 'documents')}`;
  const list = await fetch(base, { headers });
  const etag = list.headers.get('ETag') ?? '';
  if (!list.ok) return void response.writeHead(list.status).end(await list.text());
  if (incoming.headers['if-none-match'] === etag) return void response.writeHead(304, { ETag: etag }).end();
  const { documents } = (await list.json()) as { documents: { id: number }[] };
  const files: Record<string, Uint8Array> = {};
  for (const { id } of documents) {
    const one = (await (await fetch(`${base}/${id}`, { headers })).json()) as {
      slug: string;
      content: string;
      title: string;
    };
    const matter =
      search.get('front_matter') === 'true' ? `---\ntitle: ${JSON.stringify(one.title)}\n---\n` : '';
    files[`${one.slug}.md`] = strToU8(matter + one.content);
  }
  response.writeHead(200, { 'Content-Type': 'application/zip', ETag: etag }).end(zipSync(files));
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
