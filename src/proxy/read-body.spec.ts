import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { HttpRequest } from '../common/http-exchange.js';
import { readBody } from './read-body.js';

const LIMIT_BYTES = 10;

/** Reads a body that comes in these chunks: what was told of it. */
async function toldOf(headers: Record<string, string>, ...chunks: string[]): Promise<string[]> {
  const told: string[] = [];
  const request = Object.assign(new PassThrough(), { headers }) as unknown as HttpRequest & PassThrough;
  readBody(request, LIMIT_BYTES, {
    read: (body) => told.push(body.toString()),
    tooLarge: () => told.push('too large'),
  });
  for (const chunk of chunks) {
    request.write(chunk);
    await turn();
  }
  request.end();
  await turn();
  return told;
}

const CHUNKED = { 'transfer-encoding': 'chunked' };

it.each([
  ['none', {}, [], ['']],
  ['one of no length', { 'content-length': '0' }, [], ['']],
  ['one in pieces', { 'content-length': '10' }, ['12345', '67890'], ['1234567890']],
  ['one in chunks', CHUNKED, ['12345', '67890'], ['1234567890']],
  ['one that is announced as too large', { 'content-length': '11' }, ['12345', '678901'], ['too large']],
  ['one that turns out too large', CHUNKED, ['12345', '678901', '2345', '6'], ['too large']],
])('tells once of %s', async (_what, headers, chunks, told) => {
  expect(await toldOf(headers, ...chunks)).toEqual(told);
});
