import fc from 'fast-check';
import { findMessageModels } from './message-models.js';

const word = fc.string({ unit: 'grapheme', maxLength: 20 });
const json = fc.jsonValue({ maxDepth: 4 });

it('finds a model at any depth, whatever surrounds it', () => {
  fc.assert(
    fc.property(word, json, json, fc.integer({ min: 0, max: 4 }), (name, before, after, depth) => {
      let value: unknown = { before, model: name, after };
      for (let i = 0; i < depth; i++) value = { x: [value], y: after };
      expect(findMessageModels(JSON.stringify(value))!.names).toContain(name);
    }),
  );
});

it('finds every one of several members with the same name', () => {
  expect(findMessageModels('{"model":"a","model" :\n"b"}')!.names).toEqual(['a', 'b']);
});

it('takes no text for a model, also not one that quotes JSON', () => {
  const quoting = word.map((text) => JSON.stringify({ model: text }));
  fc.assert(
    fc.property(quoting, (text) => {
      expect(findMessageModels(JSON.stringify({ input: text }))).toEqual({
        names: [],
        startsResponse: false,
      });
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

it('tells messages that start a response', () => {
  expect(findMessageModels('{"type":"response.create"}')).toEqual({ names: [], startsResponse: true });
});
