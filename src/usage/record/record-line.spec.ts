import fc from 'fast-check';
import { recordLine } from './record-line.js';
import { USAGE_FIELD_NAMES, USAGE_FIELDS } from './usage-record.js';
import type { UsageFieldName, UsageRecord } from './usage-record.js';

/** Includes characters that are escaped, halves of surrogate pairs, and parts of the sign for null. */
const unit = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  fc.constantFrom('\\', 'N', 'u0041', '"', '\t', '\n', '\0', '😀', ' ', 'a'),
);
const text = fc.string({ unit });
const count = fc.option(fc.nat());
const record: fc.Arbitrary<UsageRecord> = fc.record({
  id: fc.uuid(),
  request_id: fc.stringMatching(/^[A-Za-z0-9._-]{1,128}$/),
  at: fc.constant('2026-11-21T00:00:00.000Z'),
  organization_id: fc.nat(),
  user_id: text,
  key_id: fc.nat(),
  upstream_id: count,
  upstream_name: fc.option(text),
  provider: fc.option(text),
  method: text,
  path: text,
  model: fc.option(text),
  stream: fc.boolean(),
  status: fc.nat(),
  outcome: fc.constantFrom('ok', 'client_gone'),
  input_tokens: count,
  cached_input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  usage_source: fc.constantFrom('provider', 'none'),
  latency_ms: fc.double({ min: 0, max: 1e7, noNaN: true }),
  ttft_ms: fc.option(fc.double({ min: 0, max: 1e7, noNaN: true })),
  attempts: fc.array(
    fc.record({
      upstream_id: fc.nat(),
      upstream_name: text,
      status: count,
      error: fc.option(text),
      ms: fc.nat(),
    }),
  ),
  cache_write_tokens: count,
  reasoning_tokens: count,
  upstream_model: fc.option(text),
  cost_usd: fc.option(fc.nat().map((units) => units / 1e10)),
  price_source: fc.constantFrom('own', 'list', 'none'),
});

/** Reads a line back by the rules of the insert statement. */
function recordOf(line: string): unknown {
  const fields = line.slice(0, -1).split('\t');
  const entries = USAGE_FIELD_NAMES.map((name, i) => [name, parseField(name, fields[i]!)]);
  return { ...Object.fromEntries(entries), length: fields.length };
}

function parseField(name: UsageFieldName, field: string): unknown {
  if (field === '\\N') return null;
  const { encoding } = USAGE_FIELDS[name];
  if (encoding === 'escaped') return field.includes('\\') ? JSON.parse(`"${field}"`) : field;
  return encoding === 'verbatim' ? field : JSON.parse(field);
}

it('writes one line of visible ASCII that contains the whole record', () => {
  fc.assert(
    fc.property(record, (any) => {
      const line = recordLine(any);
      expect(line).toMatch(/^[\x20-\x7e\t]*\n$/);
      expect(recordOf(line)).toEqual({ ...any, length: 28 });
    }),
  );
});

it.each([
  ['gpt-4o "mini"', 'gpt-4o "mini"'],
  ['', ''],
  [null, '\\N'],
  ['\\N', '\\\\N'],
  ['a\tb', 'a\\tb'],
  ['ü\x7f', '\\u00fc\\u007f'],
])('writes the text %j as %s', (model, field) => {
  const line = recordLine({ ...fc.sample(record, 1)[0]!, model });
  expect(line.split('\t')[USAGE_FIELD_NAMES.indexOf('model')]).toBe(field);
});
