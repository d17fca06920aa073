import fc from 'fast-check';
import { cpuMs } from '../../../test/support/cpu.js';
import { cuts, splitBytes, splitAt } from '../../../test/support/splits.js';
import { FirstEventReader } from './first-event-reader.js';
import type { StreamEvent } from './first-event-reader.js';

function firstIn(pieces: readonly Buffer[]): StreamEvent | undefined {
  const reader = new FirstEventReader();
  for (const piece of pieces) {
    const event = reader.read(piece);
    if (event) return event;
  }
  return undefined;
}

it.each<[string, StreamEvent | undefined]>([
  ['data: a\n\n', { name: '', data: 'a' }],
  ['data:a\r\rdata: b\r\r', { name: '', data: 'a' }],
  ['event: error\r\ndata: a\r\ndata:  b\r\n\r\n', { name: 'error', data: 'a\n b' }],
  ['\ufeffdata: ä😀\n\n', { name: '', data: 'ä😀' }],
  [': wait\n\n: wait\n\nid: 1\nretry: 2\ndata: a\n\n', { name: '', data: 'a' }],
  ['event: ping\n\ndata: a\n\n', { name: '', data: 'a' }],
  ['data: a\n', undefined],
  ['data: a\r\n', undefined],
  [': wait\n\n\n\n', undefined],
  ['', undefined],
])('reads %j independent of how its bytes are split', (text, expected) => {
  const bytes = Buffer.from(text);
  expect(firstIn([bytes])).toEqual(expected);
  expect(firstIn(splitBytes(bytes))).toEqual(expected);
  fc.assert(fc.property(cuts, (places) => expect(firstIn(splitAt(bytes, places))).toEqual(expected)));
});

it('gives up on an event beyond 64 KiB', () => {
  const reader = new FirstEventReader();
  expect(reader.read(Buffer.alloc(65_536, 'x'))).toBeUndefined();
  expect(reader.read(Buffer.from('x'))).toEqual({ name: '', data: '' });
});

it.each(['x', '\n', '\r', ':\n', 'data:\r'])('reads 64 KiB of %j byte by byte in linear time', (text) => {
  const bytes = Buffer.from(text.repeat(65_536 / text.length)).subarray(0, 65_536);
  expect(cpuMs(() => void firstIn(splitBytes(bytes)), 3)).toBeLessThan(1_000);
});
