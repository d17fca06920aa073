import type { Route } from './gateway.js';

/** Size of a request body, and of a response body unless the figure says otherwise. */
export const BODY_BYTES = 1_024;

export const PATH = '/v1/chat/completions';

/** Behaviour of the mock upstream for streams; the model of the request selects it. */
export type Model = 'plain' | 'paced' | 'short' | 'slow' | 'flood';

/** A chat completion request of 1 KiB. */
export function requestBody(model: Model): string {
  const stream = model === 'plain' ? undefined : true; // undefined members are omitted
  const body = (content: string) => JSON.stringify({ model, stream, messages: [{ role: 'user', content }] });
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

/** A chat completion response of the given size, with a usage block. */
export function responseBody(bytes: number): string {
  const response = (content: string) =>
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'plain',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 250, completion_tokens: 200, total_tokens: 450 },
    });
  return response('b'.repeat(bytes - response('').length));
}
