import { CliError, UsageError } from '../errors.js';
import { printable } from '../terminal/printable.js';
import { toUnreachable } from './network-error.js';
import { proxiedFetch } from './proxied-fetch.js';
import type { Introspection } from './introspection.js';

/** The service waits up to 20 s for usage, and up to 30 s for models of upstreams. */
const TIMEOUT_MS = 30_000;
const MESSAGE_LENGTH = 300;

/** Server and key of a login. */
export interface Access {
  readonly server: string;
  readonly key: string;
}

/** The key is revoked, expired or unknown. */
export class KeyRejected extends CliError {
  constructor(server: string) {
    super(`${server} does not accept the key: it was revoked, or it has expired`, 'run "mintkeep login"');
  }
}

/** Describes the key. @throws KeyRejected @throws CliError */
export async function introspect(access: Access, usageDays?: number): Promise<Introspection> {
  const form = new URLSearchParams({ token: access.key });
  if (usageDays !== undefined) form.set('usage_days', String(usageDays));
  const response = await send(access, '/oauth/introspect', { method: 'POST', body: form });
  return readJson<Introspection>(access.server, response);
}

/** Revokes the key. A key that the server does not know counts as revoked. @throws CliError */
export async function revoke({ server, key }: Access): Promise<void> {
  const body = new URLSearchParams({ token: key });
  const response = await request(server, '/oauth/revoke', { method: 'POST', body, signal: timeout() });
  await response.body?.cancel();
  if (response.status !== 200) throw unexpected(server, response.status);
}

/** Codes of the service's own 401 below `/v1`. Another 401 is passed on from an upstream, and is not about the key. */
const KEY_ERRORS = ['missing_proxy_key', 'invalid_proxy_key'];

/** Sends a request with the key. @throws KeyRejected @throws CliError unless the status is 200 */
export async function send(access: Access, path: string, options: RequestInit): Promise<Response> {
  const { server, key } = access;
  const headers = { ...(options.headers as Record<string, string>), Authorization: bearer(key) };
  const response = await request(server, path, { signal: timeout(), ...options, headers });
  if (response.status === 200) return response;
  const text = await response.text().catch(() => '');
  throw isKeyRejection(path, response.status, text)
    ? new KeyRejected(server)
    : toError(server, response, text);
}

function isKeyRejection(path: string, status: number, text: string): boolean {
  if (status !== 401 || !path.startsWith('/v1/')) return status === 401;
  const error = parseError(text)?.error;
  return typeof error === 'object' && KEY_ERRORS.includes(error?.code ?? '');
}

/** @throws CliError if the body is not JSON */
export async function readJson<T>(server: string, response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (error instanceof SyntaxError) throw notMintkeep(server);
    throw toUnreachable(server, error);
  }
}

/** Redirects are not followed: the body of a redirected request may contain the key. */
async function request(server: string, path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await proxiedFetch(`${server}${path}`, { ...options, redirect: 'manual' });
  } catch (error) {
    throw toUnreachable(server, error);
  }
  if (response.status < 300 || response.status >= 400) return response;
  const location = response.headers.get('location') ?? 'another address';
  throw new CliError(`${server} redirects to ${location}`, 'log in with the address that it redirects to');
}

function timeout(): AbortSignal {
  return AbortSignal.timeout(TIMEOUT_MS);
}

/** @throws UsageError for a key that no header can contain; `fetch` would show it in its error */
function bearer(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return `Bearer ${key}`;
  throw new UsageError('the key contains characters that no key has', 'check MINTKEEP_API_KEY');
}

interface ErrorBody {
  error?: string | { message?: string; code?: string | null } | null;
  error_description?: string;
}

function toError(server: string, { status, headers }: Response, text: string): CliError {
  const message = messageIn(text);
  if (message === undefined) return unexpected(server, status);
  const wait = headers.get('retry-after');
  const advice = wait !== null && /^\d+$/.test(wait) ? `try again in ${wait} s` : adviceFor(status);
  return new CliError(`the server responded with ${status}: ${message}`, advice);
}

/** Message of a body; undefined if it has none, or another form. An upstream may send any body. */
function messageIn(text: string): string | undefined {
  const { error, error_description } = parseError(text) ?? {};
  const message = typeof error === 'string' ? (error_description ?? error) : error?.message;
  return typeof message === 'string' ? printable(message).slice(0, MESSAGE_LENGTH) : undefined;
}

function parseError(text: string): ErrorBody | undefined {
  try {
    return (JSON.parse(text) as ErrorBody | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function unexpected(server: string, status: number): CliError {
  if (status === 404 || status === 405) return notMintkeep(server);
  return new CliError(`${server} responded with ${status}`, adviceFor(status));
}

function notMintkeep(server: string): CliError {
  return new CliError(`${server} is not a mintkeep service`, 'check the address');
}

function adviceFor(status: number): string {
  return status >= 500 || status === 429
    ? 'try again later'
    : 'change the request, or ask an admin of the organization';
}
