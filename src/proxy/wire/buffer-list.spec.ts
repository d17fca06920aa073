import fc from 'fast-check';
import { BufferList } from './buffer-list.js';

const sizes = fc.array(fc.oneof(fc.nat(3), fc.nat(600), fc.integer({ min: 4_000, max: 20_000 })), {
  maxLength: 60,
});

/** Creates buffers of these sizes. Each byte depends on its position. */
function piecesOf(lengths: readonly number[]): Buffer[] {
  let at = 0;
  return lengths.map((length) => Buffer.from(Array.from({ length }, () => at++ % 251)));
}

it('keeps all bytes in order', () => {
  fc.assert(
    fc.property(sizes, fc.nat(50_000), (lengths, wanted) => {
      const pieces = piecesOf(lengths);
      const list = new BufferList();
      for (const piece of pieces) list.append(piece);
      const all = Buffer.concat(pieces);
      expect([list.toBuffer().equals(all), list.length]).toEqual([true, all.length]);
      const last = list.tail(wanted);
      expect(last.length).toBeGreaterThanOrEqual(Math.min(wanted, all.length));
      expect(all.subarray(all.length - last.length).equals(last)).toBe(true);
    }),
  );
});

it('keeps the requested bytes at the end and few others', () => {
  fc.assert(
    fc.property(sizes, fc.nat(50_000), (lengths, wanted) => {
      const pieces = piecesOf(lengths);
      const list = new BufferList();
      for (const piece of pieces) {
        list.append(piece);
        list.keepLast(wanted);
      }
      const all = Buffer.concat(pieces);
      const bytes = list.toBuffer();
      expect(bytes.length).toBe(list.length);
      expect(bytes.length).toBeGreaterThanOrEqual(Math.min(wanted, all.length));
      expect(bytes.length).toBeLessThan(wanted + 40_000);
      expect(all.subarray(all.length - bytes.length).equals(bytes)).toBe(true);
    }),
  );
});

it.each([
  ['single bytes', [1]],
  ['single bytes between large pieces', [4_096, 1]],
  ['pieces that do not fit into what is left of a block', [3_000, 4_095]],
])('uses at most twice the memory of the bytes for %s', (_what, lengths) => {
  const list = new BufferList();
  const pieces = piecesOf(lengths);
  while (list.length < 1_000_000) for (const piece of pieces) list.append(Buffer.from(piece));
  const memory = new Set(list.toBuffers().map(({ buffer }) => buffer));
  const bytes = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(bytes).toBeLessThan(2 * list.length);
  expect(list.toBuffers().length).toBeLessThan(list.length / 1_000);
});

it('is empty after it was cleared', () => {
  const list = new BufferList();
  for (let i = 0; i < 10; i++) list.append(Buffer.from('a'));
  list.clear();
  expect([list.length, list.toBuffer().length]).toEqual([0, 0]);
  list.append(Buffer.from('b'));
  expect(list.toBuffer().toString()).toBe('b');
});
