import fc from 'fast-check';
import { cpuMs } from '../../../test/support/cpu.js';
import { cuts, splitBytes, splitAt } from '../../../test/support/splits.js';
import { cpuTimeMs } from '../../../test/support/cpu-time.js';
import type { BufferList } from '../wire/buffer-list.js';
import { NO_USAGE } from './meter.js';
import type { MeteredUsage } from './meter.js';
import { StreamMeter } from './stream-meter.js';

/** Event of a stream, and whether it is dropped if mintkeep asked for the usage. */
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
/** Stream endings without an empty line or within an event. */
const tail = fc.constantFrom('', 'data: [DONE]', 'data: {"choices":[{"del', 'da', '\r', '\n');

function run(pieces: readonly Buffer[], dropsUsage: boolean): { passed: Buffer; reading: MeteredUsage } {
  const meter = new StreamMeter(dropsUsage);
  const passed = pieces.map((piece) => meter.transform(piece));
  return { passed: Buffer.concat([...passed, meter.flush()]), reading: meter.readUsage(true) };
}

function joined(events: readonly Piece[], end: string): Buffer {
  return Buffer.concat([...events.map(({ bytes }) => bytes), Buffer.from(end)]);
}

it('relays all bytes and reads the usage independent of how the stream is split', () => {
  fc.assert(
    fc.property(stream, tail, cuts, (events, end, places) => {
      const bytes = joined(events, end);
      const whole = run([bytes], false);
      expect(whole.passed).toEqual(bytes);
      for (const pieces of [splitAt(bytes, places), splitBytes(bytes)]) {
        expect(run(pieces, false)).toEqual(whole);
      }
    }),
    { numRuns: 200 },
  );
});

it('drops only the usage events, independent of how the stream is split', () => {
  fc.assert(
    fc.property(stream, tail, cuts, (events, end, places) => {
      const bytes = joined(events, end);
      const passed = joined(
        events.filter(({ isUsageOnly }) => !isUsageOnly),
        end,
      );
      const { reading } = run([bytes], false);
      for (const pieces of [[bytes], splitAt(bytes, places), splitBytes(bytes)]) {
        expect(run(pieces, true)).toEqual({ passed, reading });
      }
    }),
    { numRuns: 300 },
  );
});

it('reads the usage of the last events', () => {
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

it('never throws and relays every byte of any stream', () => {
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

it('relays complete lines at once', () => {
  const meter = new StreamMeter(true);
  const event = 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n';
  expect(meter.transform(Buffer.from(`${event}data: {"cho`)).toString()).toBe(event);
  expect(meter.transform(Buffer.from('ices":[]}')).toString()).toBe('');
  expect(meter.transform(Buffer.from('\n')).toString()).toBe('data: {"choices":[]}\n');
});

it.each([true, false])('relays a line without an end while dropping usage is %s', (dropsUsage) => {
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
    let result: ReturnType<typeof run> | undefined;
    expect(cpuTimeMs(() => (result = run([line], drops)))).toBeLessThan(5_000);
    expect([result!.passed.equals(line), result!.reading]).toEqual([true, NO_USAGE]);
  },
);

const USAGE_EVENT = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';

it.each([
  [99, 'data: {"usage"\n', 'provider'],
  [100, 'data: {"usage"\n', 'none'],
  [20_000, 'data: "usage"\n', 'provider'],
  [20_000, 'data: {}\n', 'provider'],
])('a usage event after %i lines of %j has the source %s', (count, line, source) => {
  const lines = Buffer.from(line.repeat(count));
  const { passed, reading } = run([lines, Buffer.from(USAGE_EVENT)], false);
  expect(passed).toEqual(Buffer.concat([lines, Buffer.from(USAGE_EVENT)]));
  expect(reading.source).toBe(source);
});

const MIB = 1_048_576;

/** Creates a usage event of this many bytes, without the line end. */
function usageLine(bytes: number): string {
  const [start, end] = ['data: {"x":"', '","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'];
  return start + 'x'.repeat(bytes - start.length - end.length) + end;
}

describe.each([true, false])('a long line, when it may be the usage: %s', (dropsUsage) => {
  it.each([
    ['1 MiB is read', MIB, '\n', 3],
    ['1 MiB with a longer line end is read', MIB, '\r\n', 3],
    ['a byte more is not read', MIB + 1, '\n', null],
  ])('%s', (_what, bytes, end, total) => {
    const line = Buffer.from(`${usageLine(bytes)}${end}${end}`);
    const split = Array.from({ length: Math.ceil(line.length / 999) }, (_, i) =>
      line.subarray(i * 999, (i + 1) * 999),
    );
    for (const pieces of [[line], split, splitAt(line, [0.5, 1 - 1.5 / line.length])]) {
      const { passed, reading } = run(pieces, dropsUsage);
      expect(reading.tokens.total_tokens).toBe(total);
      expect(passed.length).toBe(dropsUsage && total !== null ? 0 : line.length);
    }
  });

  it('does not parse the rest of a line that exceeds the limit', () => {
    const rest = Buffer.from(`${USAGE_EVENT.slice(0, -1)}data: {"choices":[]}\n\n`);
    const pieces = [Buffer.alloc(MIB + 100, 'x'), rest];
    const { passed, reading } = run(pieces, dropsUsage);
    expect([passed.equals(Buffer.concat(pieces)), reading]).toEqual([true, NO_USAGE]);
  });
});

it('uses little memory for a line that arrives byte by byte', () => {
  const meter = new StreamMeter(false);
  const bytes = Buffer.from('x'.repeat(MIB));
  const before = process.memoryUsage();
  for (let i = 0; i < bytes.length; i++) meter.transform(Buffer.from(bytes.subarray(i, i + 1)));
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 * MIB);
  const { partialLine } = meter as unknown as { partialLine: BufferList };
  expect(partialLine.toBuffers().length).toBeLessThan(100);
});

it.each([
  ['empty lines', '\n'],
  ['comments', ':\n'],
  ['events without content', 'data: {}\n\n'],
])('reads megabytes of %s in linear time', (_what, text) => {
  const chunk = Buffer.from(text.repeat(65_536 / text.length));
  expect(cpuMs(() => void run(Array<Buffer>(40).fill(chunk), true), 3)).toBeLessThan(3_000);
});

it('limits the figures of an upstream that invents new ones in every event', () => {
  const meter = new StreamMeter(false);
  for (let i = 0; i < 20_000; i++) {
    meter.transform(Buffer.from(`data: {"usage":{"${'x'.repeat(40)}${i}":1,"prompt_tokens":${i}}}\n\n`));
  }
  meter.transform(Buffer.from(USAGE_EVENT));
  expect(meter.readUsage(true).tokens).toMatchObject({ input_tokens: 1, output_tokens: 2 });
  const { usage } = meter as unknown as { usage: object };
  expect(Object.keys(usage).length).toBeLessThanOrEqual(100);
});
