import fc from 'fast-check';
import { cuts, singly, splitAt } from '../../test/support/splits.js';
import { JsonMeter, usageIn } from './json-meter.js';
import { NOTHING_READ, readingOf } from './meter.js';
import { asObject } from './json-object.js';

const KEYS = ['usage', '"usage"', '"usage', '\\"usage', 'usage"', '\\', 'prompt_tokens', 'a', '__proto__'];
const key = fc.oneof(fc.constantFrom(...KEYS), fc.string({ unit: 'binary' }));
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"usage":{"prompt_tokens":1}', '","usage":{}', '\\", "usage": {}}', '{"usage":', '}'),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    ...[text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)],
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));
const usage = fc.dictionary(fc.constantFrom('prompt_tokens', 'completion_tokens', 'x'), fc.nat(99));
/** Usage among other members, wherever it stands, or none. */
const answer = fc
  .tuple(fc.array(fc.tuple(key, value), { maxLength: 5 }), fc.option(usage), fc.nat(5))
  .map(([members, own, at]) => Object.fromEntries(own ? members.toSpliced(at, 0, ['usage', own]) : members));
const document = fc
  .tuple(fc.oneof(answer, value), fc.constantFrom(undefined, 1, '\t'), fc.constantFrom('', '\n', ' \r\n'))
  .map(([json, indent, end]) => Buffer.from(`${JSON.stringify(json, undefined, indent)}${end}`));

function usageOf(bytes: Buffer) {
  return asObject(asObject(JSON.parse(bytes.toString()))?.usage);
}

it('finds the usage that JSON.parse finds', () => {
  fc.assert(
    fc.property(document, (bytes) => {
      expect(usageIn(bytes)).toEqual(usageOf(bytes));
    }),
    { numRuns: 1_000 },
  );
});

it('finds none that is not there in the end of an answer', () => {
  fc.assert(
    fc.property(document, fc.nat(300), (bytes, cut) => {
      const found = usageIn(bytes.subarray(Math.min(cut, bytes.length)), false);
      if (found) expect(found).toEqual(usageOf(bytes));
    }),
    { numRuns: 1_000 },
  );
});

it('finds it among many that lie deeper', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(20), (before, behind) => {
      const deeper = (count: number) => Array.from({ length: count }, () => ({ usage: { x: 1 } }));
      const bytes = Buffer.from(
        JSON.stringify({ a: deeper(before), usage: { prompt_tokens: 7 }, b: deeper(behind) }),
      );
      expect(usageIn(bytes)).toEqual({ prompt_tokens: 7 });
    }),
  );
});

it('throws for nothing, whatever it is', () => {
  const piece = fc.oneof(
    fc.constantFrom('"usage":', '{', '}', '[', ']', '"', '\\', ',', ':', '{"usage":{', 'null', '1'),
    text,
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect(() => usageIn(Buffer.from(pieces.join('')))).not.toThrow();
    }),
    { numRuns: 1_000 },
  );
});

it('reads and passes the same, however the answer is cut', () => {
  fc.assert(
    fc.property(document, cuts, (bytes, places) => {
      const expected = usageOf(bytes);
      for (const pieces of [splitAt(bytes, places), singly(bytes)]) {
        const meter = new JsonMeter();
        expect(Buffer.concat([...pieces.map((piece) => meter.pass(piece)), meter.rest()])).toEqual(bytes);
        expect(meter.read(true)).toEqual(expected ? readingOf(expected, undefined, true) : NOTHING_READ);
        expect(meter.read(false)).toEqual(NOTHING_READ);
      }
    }),
  );
});

it('keeps the end of an answer of any size, and finds its usage there', () => {
  const meter = new JsonMeter();
  meter.pass(Buffer.from('{"data":"'));
  for (let i = 0; i < 200; i++) meter.pass(Buffer.alloc(65_536, 'x'));
  meter.pass(Buffer.from('","usage":{"prompt_tokens":1,"completion_tokens":2}}'));
  expect(meter.read(true).tokens.total_tokens).toBe(3);
});

it('finds it before content of any length', () => {
  const meter = new JsonMeter();
  meter.pass(Buffer.from('{"usage":{"prompt_tokens":1,"completion_tokens":2},"data":"'));
  for (let i = 0; i < 20; i++) meter.pass(Buffer.alloc(1_000, 'x'));
  meter.pass(Buffer.from('"}'));
  expect(meter.read(true).tokens.total_tokens).toBe(3);
});

it.each([
  ['many that lie deeper', `{"a":[${'{"usage":1},'.repeat(300_000)}1]}`],
  ['one behind the other without an end', `${'"usage":1,'.repeat(400_000)}1`],
  ['one in the other without an end', `${'{"usage":['.repeat(400_000)}}`],
  ['one in the other, closed at last', `${'{"usage":['.repeat(200_000)}${']}'.repeat(200_000)}x`],
  ['quotes and backslashes', `{"usage":"${'\\"'.repeat(2_000_000)}`],
])('takes a moment for megabytes of %s', (_what, body) => {
  const bytes = Buffer.from(body);
  const beganAt = performance.now();
  expect(usageIn(bytes)).toBeUndefined();
  expect(performance.now() - beganAt).toBeLessThan(2_000);
});
