import { CliError } from '../errors.js';
import { printable } from '../terminal/printable.js';
import { readEvents } from './event-stream.js';
import { toUnreachable } from './network-error.js';
import { readJson, send } from './service.js';
import type { Access } from './service.js';

/** Figures of a response; members depend on the provider. */
export interface ChatUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  /** Dollars; some providers report them. */
  readonly cost?: number;
}

/** Part of a response: the next text, or the figures at its end. */
export interface ChatPart {
  readonly text?: string;
  readonly usage?: ChatUsage;
}

interface Message {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/** Text, or parts of which some have text; providers of reasoning models stream parts. */
type Content = string | null | readonly ({ readonly type?: string; readonly text?: unknown } | null)[];

interface Choice {
  readonly delta?: { readonly content?: Content };
  readonly message?: { readonly content?: Content };
  readonly finish_reason?: string | null;
}

interface Chunk {
  readonly choices?: readonly Choice[];
  readonly usage?: ChatUsage | null;
  readonly error?: { readonly message?: string };
}

/** Signal without a timeout: a model may generate for minutes. Only the connection has a timeout. */
const NEVER = new AbortController().signal;

/** Streams the response to a conversation. @throws CliError */
export async function* chat(
  access: Access,
  model: string,
  messages: readonly Message[],
): AsyncGenerator<ChatPart> {
  const response = await send(access, '/v1/chat/completions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } }),
    signal: NEVER,
  });
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) yield* readStream(access.server, response.body);
  else yield* partsOf(await readJson<Chunk>(access.server, response));
}

async function* readStream(server: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<ChatPart> {
  let isComplete = false;
  try {
    for await (const data of readEvents(body)) {
      if (data === '[DONE]') return;
      const chunk = parseChunk(data);
      isComplete ||= chunk.choices?.some(({ finish_reason }) => finish_reason) ?? false;
      yield* partsOf(chunk);
    }
  } catch (error) {
    throw error instanceof CliError ? error : toUnreachable(server, error);
  }
  if (!isComplete) throw new CliError('the response was cut off', 'try again');
}

function parseChunk(data: string): Chunk {
  try {
    return JSON.parse(data) as Chunk;
  } catch {
    throw new CliError('the response contains an event that is not JSON', 'try another model');
  }
}

function* partsOf({ choices, usage, error }: Chunk): Generator<ChatPart> {
  if (error)
    throw new CliError(`the response failed: ${printable(error.message ?? 'unknown error')}`, 'try again');
  for (const { delta, message } of choices ?? []) {
    const text = textOf((delta ?? message)?.content);
    if (text !== '') yield { text };
  }
  if (usage) yield { usage };
}

/** The text of a content. Parts of other types, such as reasoning, are left out. */
function textOf(content: Content | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts = (content as Exclude<Content, string | null>).filter((part) => part?.type === 'text');
  return parts.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('');
}
