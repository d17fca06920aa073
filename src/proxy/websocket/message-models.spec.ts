import fc from 'fast-check';
import { findMessageModels, MAX_MODELS, readClientMessage } from './message-models.js';

const word = fc.string({ unit: 'grapheme', maxLength: 20 });
const json = fc.jsonValue({ maxDepth: 4 });

it('finds a model at any depth, whatever surrounds it', () => {
  fc.assert(
    fc.property(word, json, json, fc.integer({ min: 0, max: 4 }), (name, before, after, depth) => {
      let value: unknown = { before, model: name, after };
      for (let i = 0; i < depth; i++) value = { x: [value], y: after };
      expect(findMessageModels(JSON.stringify(value))).toContain(name);
    }),
  );
});

it('finds every one of several members with the same name', () => {
  expect(findMessageModels('{"model":"a","model" :\n"b"}')).toEqual(['a', 'b']);
});

it('takes no text for a model, also not one that quotes JSON', () => {
  const quoting = word.map((text) => JSON.stringify({ model: text }));
  fc.assert(
    fc.property(quoting, (text) => {
      expect(findMessageModels(JSON.stringify({ input: text }))).toEqual([]);
    }),
  );
});

it.each([
  ['an escaped letter', String.raw`{"\u006dodel":"a"}`],
  ['an escaped letter after escaped backslashes', String.raw`{"x":"\\\\\u006D"}`],
  ['a name with a control character', '{"model":"a\nb"}'],
])('does not decide on a message with %s', (_description, text) => {
  expect(findMessageModels(text)).toBeUndefined();
});

it('does not decide on a message with many different models', () => {
  const naming = (count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, i) => ({ model: `${i}` })));
  expect(findMessageModels(naming(MAX_MODELS))).toHaveLength(MAX_MODELS);
  expect(findMessageModels(naming(MAX_MODELS + 1))).toBeUndefined();
  expect(findMessageModels('{"model":"a"}'.repeat(1_000))).toEqual(['a']);
});

it.each([
  ['{"type":"response.create"}', { startsResponse: true }],
  [String.raw`{"ty\u0070e":"response\u002ecreate","model":"a"}`, { startsResponse: true, model: 'a' }],
  ['{"type":"x","type":"y"}', { startsResponse: true }],
  ['{"type":"session.update","x":{"type":"response.create"},"model":1}', { startsResponse: false }],
  ['{}', { startsResponse: false }],
])('reads %s', (text, expected) => {
  expect(readClientMessage(Buffer.from(text))).toEqual({ model: undefined, ...expected });
});

it.each(['', 'x', '[]', '{"type":"response.create"'])('reads no message from %j', (text) => {
  expect(readClientMessage(Buffer.from(text))).toBeUndefined();
});
