/** Part of a streamed chat completion that the playground reads. */
export interface ChatChunk {
  readonly text: string;
  readonly usage?: TokenUsage;
  /** Message of an error event, with which an interrupted stream ends. */
  readonly error?: string;
}

/** Tokens of a response; null if unknown. */
export interface TokenUsage {
  readonly input: number | null;
  readonly output: number | null;
}

interface Counts {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
}

interface Payload {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: Counts | null;
  readonly error?: { readonly message?: string };
}

/** Reads the events of a chat completion as they arrive, whatever the boundaries of the packets are. */
export async function* readChatStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ChatChunk> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += value ?? '';
      const lines = rest.split(/\r?\n/);
      rest = done ? '' : lines.pop()!;
      for (const line of lines) {
        const chunk = parseLine(line);
        if (chunk) yield chunk;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Parses a `data:` line. Other lines, and the closing `[DONE]`, carry no text. */
export function parseLine(line: string): ChatChunk | undefined {
  const data = /^data: ?(.*)$/.exec(line)?.[1];
  const payload = data === undefined ? undefined : parsePayload(data);
  if (!payload) return undefined;
  const { choices, usage, error } = payload;
  return {
    text: textOf(choices),
    ...(usage && { usage: toUsage(usage) }),
    ...(error && { error: error.message ?? 'the stream was interrupted' }),
  };
}

function textOf(choices: Payload['choices']): string {
  return choices?.[0]?.delta?.content ?? '';
}

/** Parses JSON. `[DONE]` and broken events are none. */
function parsePayload(data: string): Payload | undefined {
  try {
    return JSON.parse(data) as Payload;
  } catch {
    return undefined;
  }
}

function toUsage({ prompt_tokens: input = null, completion_tokens: output = null }: Counts): TokenUsage {
  return { input, output };
}
