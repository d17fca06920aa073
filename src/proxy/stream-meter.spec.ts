import fc from 'fast-check';
import { cuts, singly, splitAt } from '../../test/support/splits.js';
import { NOTHING_READ } from './meter.js';
import type { Reading } from './meter.js';
import { StreamMeter } from './stream-meter.js';

/** An event as it stands in a stream, and whether it is left out where usage was not asked for by the client. */
interface Piece {
  readonly bytes: Buffer;
  readonly isUsageOnly: boolean;
}

const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '"usage"',
    '"choices":[],"usage":{}',
    '\n\ndata: {"choices":[],"usage":{}}\n\n',
    '\r',
    '😀',
  ),
);
const count = fc.nat(1_000);
const usage = fc.record({ prompt_tokens: count, completion_tokens: count });
const lineEnd = fc.constantFrom('\n', '\r\n');
const beginning = fc.constantFrom('data: ', 'data:');

const content = fc.record({
  choices: fc.tuple(fc.record({ index: fc.nat(3), delta: fc.record({ content: words }) })),
  usage: fc.option(usage),
});
const withoutUsage = fc.record({ choices: fc.constant([]), usage: fc.constant(null), x: words });
const typed = fc.oneof(
  fc.record({ type: fc.constant('message_start'), message: fc.record({ usage }) }),
  fc.record({ type: fc.constant('message_delta'), usage, delta: fc.record({ text: words }) }),
  fc.record({ type: fc.constant('response.output_text.delta'), delta: words, usage }),
);
const answersUsage = fc.record({ choices: fc.constant([]), usage, id: words });

function eventOf(json: fc.Arbitrary<object>, isUsageOnly = false): fc.Arbitrary<Piece> {
  return fc
    .tuple(json, beginning, lineEnd)
    .map(([data, start, end]) => pieceOf(`${start}${JSON.stringify(data)}${end}${end}`, isUsageOnly));
}
function pieceOf(text: string, isUsageOnly = false): Piece {
  return { bytes: Buffer.from(text), isUsageOnly };
}

const plain = fc.oneof(
  eventOf(content),
  eventOf(withoutUsage),
  eventOf(typed),
  fc
    .constantFrom(': wait', 'event: ping\ndata: {}', 'data: [DONE]', 'data', 'data: {"usage"', 'id: "usage"')
    .map((text) => pieceOf(`${text}\n\n`)),
  words.map((text) => pieceOf(`: ${text.replaceAll(/[\r\n]/g, ' ')}\n\n`)),
);
const stream = fc.array(fc.oneof({ arbitrary: plain, weight: 3 }, eventOf(answersUsage, true)), {
  maxLength: 12,
});
/** What ends without an empty line, or in the middle of anything. */
const tail = fc.constantFrom('', 'data: [DONE]', 'data: {"choices":[{"del', 'da', '\r', '\n');

function run(pieces: readonly Buffer[], dropsUsage: boolean): { passed: Buffer; reading: Reading } {
  const meter = new StreamMeter(dropsUsage);
  const passed = pieces.map((piece) => meter.pass(piece));
  return { passed: Buffer.concat([...passed, meter.rest()]), reading: meter.read(true) };
}

function joined(events: readonly Piece[], end: string): Buffer {
  return Buffer.concat([...events.map(({ bytes }) => bytes), Buffer.from(end)]);
}

it('passes all bytes as they are, and reads the same, however the stream is cut', () => {
  fc.assert(
    fc.property(stream, tail, cuts, (events, end, places) => {
      const bytes = joined(events, end);
      const whole = run([bytes], false);
      expect(whole.passed).toEqual(bytes);
      for (const pieces of [splitAt(bytes, places), singly(bytes)]) {
        expect(run(pieces, false)).toEqual(whole);
      }
    }),
    { numRuns: 200 },
  );
});

it('leaves out the events that hold usage and nothing else, and no byte beside, however the stream is cut', () => {
  fc.assert(
    fc.property(stream, tail, cuts, (events, end, places) => {
      const bytes = joined(events, end);
      const passed = joined(
        events.filter(({ isUsageOnly }) => !isUsageOnly),
        end,
      );
      const { reading } = run([bytes], false);
      for (const pieces of [[bytes], splitAt(bytes, places), singly(bytes)]) {
        expect(run(pieces, true)).toEqual({ passed, reading });
      }
    }),
    { numRuns: 300 },
  );
});

it('reads what the last events said', () => {
  fc.assert(
    fc.property(fc.array(plain), usage, cuts, (events, { prompt_tokens, completion_tokens }, places) => {
      const last = { choices: [], usage: { prompt_tokens, completion_tokens } };
      const bytes = joined(events, `data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
      const { tokens, source } = run(splitAt(bytes, places), true).reading;
      expect([tokens.input_tokens, tokens.output_tokens, source]).toEqual([
        ...[prompt_tokens, completion_tokens, 'provider'],
      ]);
    }),
  );
});

it('throws for nothing, and keeps no byte back, whatever passes', () => {
  const bytes = fc.oneof(
    fc.uint8Array().map((array) => Buffer.from(array)),
    fc
      .constantFrom('data: ', '"usage":', '\n', '\r\n', '{', '}', '"usage":null', '[]')
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(bytes), fc.boolean(), (pieces, dropsUsage) => {
      expect(run(pieces, dropsUsage).passed).toEqual(Buffer.concat(pieces));
    }),
    { numRuns: 500 },
  );
});

it('withholds nothing of a line that is complete', () => {
  const meter = new StreamMeter(true);
  const event = 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n';
  expect(meter.pass(Buffer.from(`${event}data: {"cho`)).toString()).toBe(event);
  expect(meter.pass(Buffer.from('ices":[]}')).toString()).toBe('');
  expect(meter.pass(Buffer.from('\n')).toString()).toBe('data: {"choices":[]}\n');
});

it.each([true, false])('passes a line that has no end, when it may be the usage: %s', (dropsUsage) => {
  const pieces = Array.from({ length: 10 }, () => Buffer.alloc(1_048_576, '"usage":null'));
  pieces.push(Buffer.from('\ndata: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'));
  const { passed, reading } = run([Buffer.from('data: '), ...pieces], dropsUsage);
  expect(passed.length).toBe('data: '.length + 10 * 1_048_576 + (dropsUsage ? 1 : pieces.at(-1)!.length));
  expect(reading.tokens.total_tokens).toBe(3);
});

it.each([true, false])(
  'reads a line that says megabytes of nothing, when it may be the usage: %s',
  (drops) => {
    const line = Buffer.from(`data: {${'"usage":null,'.repeat(300_000)}"choices":[]}`);
    const beganAt = performance.now();
    const { passed, reading } = run([line], drops);
    expect(performance.now() - beganAt).toBeLessThan(2_000);
    expect([passed.equals(line), reading]).toEqual([true, NOTHING_READ]);
  },
);

const USAGE_EVENT = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';

it.each([
  [99, 'data: {"usage"\n', 'provider'],
  [100, 'data: {"usage"\n', 'none'],
  [20_000, 'data: "usage"\n', 'provider'],
  [20_000, 'data: {}\n', 'provider'],
])('behind %i lines of %j the usage is from: %s', (count, line, source) => {
  const lines = Buffer.from(line.repeat(count));
  const { passed, reading } = run([lines, Buffer.from(USAGE_EVENT)], false);
  expect(passed).toEqual(Buffer.concat([lines, Buffer.from(USAGE_EVENT)]));
  expect(reading.source).toBe(source);
});
