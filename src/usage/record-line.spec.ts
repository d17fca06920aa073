import fc from 'fast-check';
import { recordLine } from './record-line.js';
import type { UsageRecord } from './usage-record.js';

const text = fc.string({ unit: 'binary' });
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
});

it('says what JSON.stringify says, in one line of ASCII', () => {
  fc.assert(
    fc.property(record, (any) => {
      const line = recordLine(any);
      expect(line).toMatch(/^[\x20-\x7e]*\n$/);
      expect(JSON.stringify(JSON.parse(line))).toBe(JSON.stringify(any));
    }),
  );
});
