import fc from 'fast-check';
import { isServerError, parseEvent } from './stream-events.js';
import { parseTokenCounts } from './token-counts.js';

const VALUES = [
  ...[null, true, 0, -1, 1.5, 503, 1e300],
  ...['', 'error', 'message_start', 'response.failed', 'x.delta'],
];
const MEMBERS =
  'type code error usage choices delta text message response finish_reason prompt_tokens ' +
  'toString valueOf toJSON __proto__ constructor length endsWith';

/** JSON with member names that matter to the proxy or to JavaScript, and any values. */
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(...VALUES),
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...MEMBERS.split(' ')), tie('anything'), { maxKeys: 5 }),
  ),
}));

it('parses any JSON without throwing', () => {
  fc.assert(
    fc.property(anything, fc.constantFrom('', 'error'), (value, name) => {
      const data = JSON.stringify(value);
      const { usage } = parseEvent(data) ?? {};
      if (usage) parseTokenCounts(usage);
      isServerError(name, data);
    }),
    { numRuns: 5_000 },
  );
});

const UNTEXTUAL = '{"toString":0,"valueOf":0}';

it.each([
  ['error', `{"type":${UNTEXTUAL}}`],
  ['', `{"error":{"type":${UNTEXTUAL},"code":${UNTEXTUAL}}}`],
  ['', `{"type":"error","error":{"type":"invalid_request_error","code":"429"}}`],
  ['', `{"error":{"code":429,"type":"server_error"}}`],
])('does not take the event %j with %s for a failure of the provider', (name, data) => {
  expect(parseEvent(data)).toMatchObject({ hasContent: false, isFinal: false });
  expect(isServerError(name, data)).toBe(false);
});

it.each([
  '{"error":{"message":"x","code":503}}',
  '{"error":{"message":"x","code":"503"}}',
  '{"type":"error","error":{"type":"overloaded_error"}}',
  `{"error":{"type":${UNTEXTUAL},"code":"server_error"}}`,
])('takes %s for a failure of the provider', (data) => expect(isServerError('', data)).toBe(true));
