import type { Route } from './gateway.js';

/** Of every request and every answer, unless a figure says otherwise. */
export const BODY_BYTES = 1_024;

export const PATH = '/v1/chat/completions';

/** What the mock upstream of streams does; told as the model. */
export type Model = 'plain' | 'paced' | 'short' | 'slow' | 'flood';

/** A chat completion of 1 KiB. */
export function requestBody(model: Model): string {
  const body = (content: string) =>
    JSON.stringify({
      ...{ model, ...(model === 'plain' ? {} : { stream: true }) },
      messages: [{ role: 'user', content }],
    });
  return body('a'.repeat(BODY_BYTES - body('').length));
}

/** The bytes of a request on a keep-alive connection. */
export function requestBytes(
  { headers }: Route,
  model: Model,
  more: Readonly<Record<string, string>> = {},
): Buffer {
  const body = requestBody(model);
  const all = { Host: '127.0.0.1', ...CONTENT, ...headers, ...more, 'Content-Length': String(body.length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${PATH} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

export const CONTENT = { 'Content-Type': 'application/json' };

/** A chat completion of so many bytes, with a usage block. */
export function answerBody(bytes: number): string {
  const answer = (content: string) =>
    JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'plain' },
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 250, completion_tokens: 200, total_tokens: 450 },
    });
  return answer('b'.repeat(bytes - answer('').length));
}
