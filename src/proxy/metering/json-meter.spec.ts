import fc from 'fast-check';
import { cuts, splitBytes, splitAt } from '../../../test/support/splits.js';
import { cpuTimeMs } from '../../../test/support/cpu-time.js';
import { JsonMeter, findUsage } from './json-meter.js';
import type { BufferList } from '../wire/buffer-list.js';
import { NO_USAGE, toMeteredUsage } from './meter.js';
import { asObject } from '../json/json-object.js';

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
/** Object with usage at any position among other members, or without usage. */
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
      expect(findUsage(bytes)).toEqual(usageOf(bytes));
    }),
    { numRuns: 1_000 },
  );
});

it('finds no usage in the end of a response that has none there', () => {
  fc.assert(
    fc.property(document, fc.nat(300), (bytes, cut) => {
      const found = findUsage(bytes.subarray(Math.min(cut, bytes.length)), false);
      if (found) expect(found).toEqual(usageOf(bytes));
    }),
    { numRuns: 1_000 },
  );
});

it('finds the usage among many deeper members of that name', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(20), (before, behind) => {
      const deeper = (count: number) => Array.from({ length: count }, () => ({ usage: { x: 1 } }));
      const bytes = Buffer.from(
        JSON.stringify({ a: deeper(before), usage: { prompt_tokens: 7 }, b: deeper(behind) }),
      );
      expect(findUsage(bytes)).toEqual({ prompt_tokens: 7 });
    }),
  );
});

it('never throws', () => {
  const piece = fc.oneof(
    fc.constantFrom('"usage":', '{', '}', '[', ']', '"', '\\', ',', ':', '{"usage":{', 'null', '1'),
    text,
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect(() => findUsage(Buffer.from(pieces.join('')))).not.toThrow();
    }),
    { numRuns: 1_000 },
  );
});

it('reads and relays a response independent of how its bytes are split', () => {
  fc.assert(
    fc.property(document, cuts, (bytes, places) => {
      const expected = usageOf(bytes);
      for (const pieces of [splitAt(bytes, places), splitBytes(bytes)]) {
        const meter = new JsonMeter();
        expect(Buffer.concat([...pieces.map((piece) => meter.transform(piece)), meter.flush()])).toEqual(
          bytes,
        );
        expect(meter.readUsage(true)).toEqual(
          expected ? toMeteredUsage(expected, undefined, true) : NO_USAGE,
        );
        expect(meter.readUsage(false)).toEqual(NO_USAGE);
      }
    }),
  );
});

it('finds the usage at the end of a large response', () => {
  const meter = new JsonMeter();
  meter.transform(Buffer.from('{"data":"'));
  for (let i = 0; i < 200; i++) meter.transform(Buffer.alloc(65_536, 'x'));
  meter.transform(Buffer.from('","usage":{"prompt_tokens":1,"completion_tokens":2}}'));
  expect(meter.readUsage(true).tokens.total_tokens).toBe(3);
});

it('finds the usage before long content', () => {
  const meter = new JsonMeter();
  meter.transform(Buffer.from('{"usage":{"prompt_tokens":1,"completion_tokens":2},"data":"'));
  for (let i = 0; i < 20; i++) meter.transform(Buffer.alloc(1_000, 'x'));
  meter.transform(Buffer.from('"}'));
  expect(meter.readUsage(true).tokens.total_tokens).toBe(3);
});

it.each([
  ['many deeper members', `{"a":[${'{"usage":1},'.repeat(300_000)}1]}`],
  ['unclosed members in sequence', `${'"usage":1,'.repeat(400_000)}1`],
  ['unclosed nested members', `${'{"usage":['.repeat(400_000)}}`],
  ['nested members that are closed', `${'{"usage":['.repeat(200_000)}${']}'.repeat(200_000)}x`],
  ['quotes and backslashes', `{"usage":"${'\\"'.repeat(2_000_000)}`],
])('searches megabytes of %s in linear time', (_what, body) => {
  const bytes = Buffer.from(body);
  const tookMs = cpuTimeMs(() => expect(findUsage(bytes)).toBeUndefined());
  expect(tookMs).toBeLessThan(5_000);
});

it('keeps few buffers of a response that arrives byte by byte', () => {
  const meter = new JsonMeter();
  const text = `{"data":"${'x'.repeat(300_000)}","usage":{"prompt_tokens":1,"completion_tokens":2}}`;
  for (const byte of splitBytes(Buffer.from(text))) meter.transform(Buffer.from(byte));
  const { end } = meter as unknown as { end: BufferList };
  expect(end.toBuffers().length).toBeLessThan(100);
  expect(meter.readUsage(true).tokens.total_tokens).toBe(3);
});
