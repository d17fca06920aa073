import { request as httpRequest } from 'node:http';
import type { Agent as HttpAgent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TestApp } from './app.js';
import { personalOwner } from './owners.js';
import type { TestOwner } from './owners.js';

/** Upstream that a test adds to a pool. */
export interface PoolEntry {
  readonly url: string;
  readonly provider?: string;
  readonly apiKey?: string;
  readonly priority?: number;
}

export const UPSTREAM_KEY = 'sk-upstream-0000';

let count = 0;

/** Puts upstreams into an owner's pool, to be tried in this order. */
export async function fillPool(owner: TestOwner, ...entries: (PoolEntry | string)[]): Promise<number[]> {
  const ids: number[] = [];
  for (const entry of entries) {
    const { url, ...rest } = typeof entry === 'string' ? { url: entry } : entry;
    const { apiKey = UPSTREAM_KEY, ...fields } = rest as Omit<PoolEntry, 'url'>;
    const { body } = await owner.admin
      .post(`${owner.base}/upstreams`)
      .send({ name: `upstream ${++count}`, base_url: url, api_key: apiKey, priority: count, ...fields })
      .expect(201);
    ids.push(body.id as number);
  }
  return ids;
}

/** Mints a key of the owner's pool. */
export async function mintKey(owner: TestOwner): Promise<string> {
  const { body } = await owner.admin
    .post('/me/keys')
    .send({ organization_id: owner.organizationId })
    .expect(201);
  return body.api_key as string;
}

/** Creates a user with these upstreams and a key. The ids are those of the upstreams. */
export async function ownerWith(
  app: TestApp,
  ...entries: (PoolEntry | string)[]
): Promise<{ readonly owner: TestOwner; readonly key: string; readonly ids: readonly number[] }> {
  const owner = await personalOwner(app);
  const ids = await fillPool(owner, ...entries);
  return { owner, key: await mintKey(owner), ids };
}

export interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  readonly agent?: HttpAgent;
  /** Ends the connection. */
  readonly signal?: AbortSignal;
  /** Called on a 100 (Continue). */
  readonly continued?: () => void;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The body as text. */
  readonly text: string;
  /** Whether the response ended as it should. */
  readonly complete: boolean;
}

/** Calls the proxy with a key, and reads the whole response. */
export async function call(app: Pick<TestApp, 'url'>, key: string, options: Call = {}): Promise<Reply> {
  const response = await open(app, key, options);
  const chunks: Buffer[] = [];
  const complete = await new Promise<boolean>((resolve) => {
    response.on('data', (piece: Buffer) => chunks.push(piece));
    response.on('end', () => resolve(response.complete));
    response.on('error', () => resolve(false));
    response.on('close', () => resolve(response.complete));
  });
  const body = Buffer.concat(chunks);
  const { statusCode: status = 0, headers, rawHeaders } = response;
  return { status, headers, rawHeaders, body, text: body.toString('utf8'), complete };
}

/** Calls the proxy with a key; resolves when the headers of the response have arrived. */
export function open(
  { url }: Pick<TestApp, 'url'>,
  key: string,
  { method, path = '/v1/chat/completions', headers, body, agent, signal, continued }: Call = {},
): Promise<IncomingMessage> {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = httpRequest({
      ...{
        hostname,
        port,
        path,
        signal,
        agent: agent ?? false,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
      },
      headers: { authorization: `Bearer ${key}`, ...lengthOf(bytes, headers), ...headers },
    });
    sent.on('response', resolve).on('error', reject);
    if (continued) sent.on('continue', continued).flushHeaders();
    else sent.end(bytes);
  });
}

/** Node does not send the length for every method. */
function lengthOf(body: Buffer | undefined, headers: Call['headers']): Record<string, string> {
  if (body === undefined || headers?.['transfer-encoding'] !== undefined) return {};
  return { 'content-length': String(body.length) };
}
