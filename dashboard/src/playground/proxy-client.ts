import { ApiError, UnreachableError } from '../api/errors';
import { mintKey } from '../keys/queries';
import { sessions } from '../session/store';
import { readChatStream } from './event-stream';
import type { ChatChunk } from './event-stream';
import { UNAUTHORIZED } from '../api/statuses';

const HOUR_MS = 3_600_000;
/** Time before its end at which a key is replaced, so that it outlives a long response. */
const MARGIN_MS = 600_000;

interface PlaygroundKey {
  readonly secret: string;
  readonly expiresAt: number;
}

/** Keys of this page, by person and organization. They are never stored, and expire by themselves. */
const keys = new Map<string, Promise<PlaygroundKey>>();

function keyName(owner: number): string {
  return `${owner} ${sessions.current()?.userId}`;
}

/** Returns the key of the signed-in person in the organization, and mints one for an hour if there is none. */
async function playgroundKey(owner: number): Promise<string> {
  const name = keyName(owner);
  const known = await keys.get(name)?.catch(() => undefined);
  if (known && known.expiresAt - MARGIN_MS > Date.now()) return known.secret;
  const expiresAt = Date.now() + HOUR_MS;
  const minting = mintKey(owner, { name: 'Playground', expires_at: new Date(expiresAt).toISOString() });
  const key = minting.then(({ api_key: secret }) => ({ secret, expiresAt }));
  keys.set(name, key);
  return (await key).secret;
}

/** Models of the pool. @throws ApiError if there is no upstream */
export async function listModels(owner: number): Promise<string[]> {
  const response = await send(owner, '/v1/models', {});
  const { data } = (await response.json()) as { data: readonly { readonly id: string }[] };
  return data.map(({ id }) => id);
}

/** Sends a prompt, and returns the parts of the response as they arrive. @param onRequestId gets the id of the request */
export async function* streamChat(
  owner: number,
  model: string,
  prompt: string,
  signal: AbortSignal,
  onRequestId: (id: string | null) => void,
): AsyncGenerator<ChatChunk> {
  const messages = [{ role: 'user', content: prompt }];
  const body = JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } });
  const init = { method: 'POST', body, signal, headers: { 'Content-Type': 'application/json' } };
  const response = await send(owner, '/v1/chat/completions', init);
  onRequestId(response.headers.get('X-Request-Id'));
  yield* readChatStream(response.body!);
}

/** Sends a request with the key. A key that was revoked is replaced once. */
async function send(owner: number, path: string, init: RequestInit): Promise<Response> {
  let response = await sendOnce(owner, path, init);
  if (response.status === UNAUTHORIZED) {
    keys.delete(keyName(owner));
    response = await sendOnce(owner, path, init);
  }
  if (!response.ok) throw await ApiError.from(response);
  return response;
}

async function sendOnce(owner: number, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('Authorization', `Bearer ${await playgroundKey(owner)}`);
  return fetch(path, { ...init, headers }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new UnreachableError();
  });
}
