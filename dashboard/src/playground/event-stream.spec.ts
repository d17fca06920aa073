import { parseLine, readChatStream } from './event-stream';

const event = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
const STREAM =
  event({ choices: [{ delta: { role: 'assistant', content: '' } }] }) +
  event({ choices: [{ delta: { content: 'Grüße' } }] }) +
  ': comment\r\n\r\n' +
  event({ choices: [{ delta: { content: ' 👋' } }] }) +
  event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 7 } }) +
  'data: [DONE]\n\n';

async function read(size: number): Promise<{ text: string; usage: unknown }> {
  const bytes = new TextEncoder().encode(STREAM);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  let text = '';
  let usage: unknown;
  for await (const chunk of readChatStream(body)) {
    text += chunk.text;
    usage = chunk.usage ?? usage;
  }
  return { text, usage };
}

it.each([1, 2, 3, 7, 50, 10_000])('reads text and usage from packets of %i bytes', async (size) => {
  expect(await read(size)).toEqual({ text: 'Grüße 👋', usage: { input: 3, output: 7 } });
});

it('reads the error event of an interrupted stream', () => {
  expect(parseLine('data: {"error":{"message":"the upstream closed the stream"}}')?.error).toBe(
    'the upstream closed the stream',
  );
});

it('ignores lines that are no events', () => {
  for (const line of ['', 'event: x', 'data: [DONE]', 'data: {broken'])
    expect(parseLine(line)).toBeUndefined();
});
