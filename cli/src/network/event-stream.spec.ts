import { readEvents } from './event-stream.js';

async function eventsOf(text: string, size: number): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  async function* parts() {
    for (let i = 0; i < bytes.length; i += size) yield await Promise.resolve(bytes.subarray(i, i + size));
  }
  const events = [];
  for await (const event of readEvents(parts())) events.push(event);
  return events;
}

const STREAM = [
  ': a comment\n\n',
  'data: {"a":1}\n\n',
  'event: x\r\ndata:two\r\ndata: lines\r\n\r\n',
  'id: 7\n\n',
  'data: ü€🙂\n\n',
  'data: [DONE]\n\n',
  'data: without an end',
].join('');

it.each([1, 2, 3, 7, 1_000])('reads events from parts of %d bytes', async (size) => {
  expect(await eventsOf(STREAM, size)).toEqual(['{"a":1}', 'two\nlines', 'ü€🙂', '[DONE]']);
});
