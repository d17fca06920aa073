import { ApiError, UnreachableError } from '../api/errors';
import { mintKey } from '../keys/queries';
import { readChatStream } from './event-stream';
import type { ChatChunk } from './event-stream';

const HOUR_MS = 3_600_000;
/** Time before its end at which a key is replaced, so that it outlives a long response. */
const MARGIN_MS = 600_000;

interface PlaygroundKey {
  readonly secret: string;
  readonly expiresAt: number;
}

/** Keys of this page, by organization. They are never stored, and expire by themselves. */
const keys = new Map<number, Promise<PlaygroundKey>>();

/** Returns the key of the organization, and mints one for an hour if there is none. */
async function playgroundKey(owner: number): Promise<string> {
  const known = await keys.get(owner)?.catch(() => undefined);
  if (known && known.expiresAt - MARGIN_MS > Date.now()) return known.secret;
  const expiresAt = Date.now() + HOUR_MS;
  const minting = mintKey(owner, { name: 'Playground', expires_at: new Date(expiresAt).toISOString() });
  const key = minting.then(({ api_key: secret }) => ({ secret, expiresAt }));
  keys.set(owner, key);
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

async function send(owner: number, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('Authorization', `Bearer ${await playgroundKey(owner)}`);
  const response = await fetch(path, { ...init, headers }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new UnreachableError();
  });
  if (!response.ok) throw await ApiError.from(response);
  return response;
}
