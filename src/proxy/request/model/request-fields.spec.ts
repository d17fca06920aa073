import fc from 'fast-check';
import { readObject } from '../../json/json-members.js';
import { applyEdits } from './edit.js';
import { modelEdit } from './requested-model.js';
import { NO_FIELDS, parseFields } from './request-fields.js';

const CHAT = '/v1/chat/completions';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"stream":true', '{"stream_options":{}}', '\\', '"', '😀', '\0', '\ud800'),
);
const value = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary', depthSize: 'small' }),
  text,
  fc.array(fc.record({ role: text, content: text, stream: fc.boolean() }), { maxLength: 3 }),
);
const spaces = fc.constantFrom('', ' ', '\n  ', '\t', '\r\n');
/** Member name in quotes, possibly with one character as an escape. */
const name = (...names: string[]) =>
  fc.tuple(fc.constantFrom(...names), fc.nat(12)).map(([word, at]) => {
    const escaped = `\\u${(word.charCodeAt(at) || 0).toString(16).padStart(4, '0')}`;
    return `"${at < word.length ? word.slice(0, at) + escaped + word.slice(at + 1) : word}"`;
  });

type Member = readonly [name: string, value: string];

/** JSON text of an object with random white space and possibly duplicate members. */
function objectOf(member: fc.Arbitrary<Member>, maxLength: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(member, spaces, spaces), { maxLength }), spaces)
    .map(([members, inside]) => {
      const written = members.map(
        ([[key, of], before, behind]) => before + key + behind + ':' + before + of + behind,
      );
      return `{${inside}${written.join(',')}}`;
    });
}
/** Keys without quotes and backslashes: `JSON.parse` of Node 24 confuses keys that are one escaped character. */
const anything: fc.Arbitrary<Member> = fc.tuple(
  text.map((key) => JSON.stringify(key.replace(/["\\]/g, '_'))),
  value.map((of) => JSON.stringify(of)),
);
const includeUsage = fc.tuple(
  name('include_usage'),
  fc.constantFrom('true', 'false', 'null', '1', '"x"', '{}'),
);
const options = fc.oneof(
  objectOf(fc.oneof(includeUsage, anything), 4),
  fc.constantFrom('null', 'true', '1', '"text"', '[]', '[{"include_usage":true}]'),
);
const own = fc.oneof<fc.Arbitrary<Member>[]>(
  fc.tuple(name('stream'), fc.constantFrom('true', 'true', 'true', 'false', 'null', '"true"', '1')),
  fc.tuple(name('stream_options'), options),
  fc.tuple(
    name('model'),
    value.map((of) => JSON.stringify(of)),
  ),
);
const body = fc
  .tuple(spaces, objectOf(fc.oneof(own, own, anything), 7), spaces)
  .map(([before, object, behind]) => Buffer.from(before + object + behind));

const fieldsOf = (bytes: Buffer, path = CHAT) => parseFields(path, {}, bytes);
const parse = (bytes: Buffer) => JSON.parse(bytes.toString()) as Record<string, unknown>;
const isObject = (of: unknown) => typeof of === 'object' && of !== null && !Array.isArray(of);

/** Whether the usage option has to be added. */
function lacksUsage({ stream, stream_options: given = null }: Record<string, unknown>): boolean {
  if (stream !== true || (given !== null && !isObject(given))) return false;
  return (given as { include_usage?: unknown } | null)?.include_usage !== true;
}

/** Whether the texts differ by a single replacement or insertion. */
function isOneEdit(before: Buffer, after: Buffer): boolean {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const edited = after.toString('utf8', start, after.length - end);
  return before.length - end - start <= '"include_usage":'.length && edited.length <= 45;
}

it('adds the usage option to a chat stream and changes nothing else', () => {
  fc.assert(
    fc.property(body, (bytes) => {
      const given = parse(bytes);
      const { stream, body, usageEdit } = fieldsOf(bytes);
      const sent = usageEdit && applyEdits(bytes, [usageEdit]);
      expect(body).toBe(bytes);
      expect([sent !== undefined, stream]).toEqual([lacksUsage(given), given.stream === true]);
      if (!sent) return;
      const stream_options = { ...(given.stream_options as object | null), include_usage: true };
      expect(parse(sent)).toEqual({ ...given, stream_options });
      expect(isOneEdit(bytes, sent)).toBe(true);
    }),
    { numRuns: 1_500 },
  );
});

it.each([
  ['absent', '{"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'],
  [
    'null',
    '{"stream":true,"stream_options" : null }',
    '{"stream":true,"stream_options" : {"include_usage":true} }',
  ],
  [
    'empty',
    '{"stream":true,"stream_options":{ }}',
    '{"stream":true,"stream_options":{"include_usage":true }}',
  ],
  [
    'an object with other members',
    '{"stream":true,"stream_options":{ "x": 1.0 }}',
    '{"stream":true,"stream_options":{"include_usage":true, "x": 1.0 }}',
  ],
  [
    'false',
    '{"stream":true,"stream_options":{"include_usage": false }}',
    '{"stream":true,"stream_options":{"include_usage": true }}',
  ],
  [
    'present twice',
    '{"stream_options":{"include_usage":true},"stream":true,"stream_options":null}',
    '{"stream_options":{"include_usage":true},"stream":true,"stream_options":{"include_usage":true}}',
  ],
  [
    'escaped',
    '{"\\u0073tream":true,"stream\\u005foptions":{"include_\\u0075sage":false}}',
    '{"\\u0073tream":true,"stream\\u005foptions":{"include_\\u0075sage":true}}',
  ],
])('adds include_usage to stream_options if they are %s', (_description, before, after) => {
  const bytes = Buffer.from(before);
  expect(applyEdits(bytes, [fieldsOf(bytes).usageEdit!]).toString()).toBe(after);
});

it('does not edit bodies of other requests', () => {
  fc.assert(
    fc.property(
      body,
      fc.constantFrom('/v1/completions/x', '/v1/responses', '/v1/messages', '/v1/chat'),
      (bytes, path) => {
        expect(fieldsOf(bytes, path)).toMatchObject({ body: bytes, usageEdit: undefined });
      },
    ),
  );
});

it('does not edit compressed bodies', () => {
  const bytes = Buffer.from('{"stream":true}');
  const fields = parseFields(CHAT, { 'content-encoding': 'gzip' }, bytes);
  expect(fields).toEqual({ ...NO_FIELDS, body: bytes });
});

it('finds the same members as JSON.parse, with their positions', () => {
  fc.assert(
    fc.property(body, (bytes) => {
      const parsed = Object.entries(parse(bytes)).filter(([key]) => /^\w*$/.test(key));
      const members = [
        ...readObject(
          bytes,
          parsed.map(([key]) => key),
        )!.members,
      ];
      const read = members.map(([key, { start, end }]): [string, unknown] => [
        key,
        JSON.parse(bytes.toString('utf8', start, end)),
      ]);
      expect(new Map(read)).toEqual(new Map(parsed));
    }),
    { numRuns: 500 },
  );
});

it('finds no object in a truncated text, and never throws', () => {
  const fragments = fc.array(
    fc.oneof(fc.constantFrom(...'{}[]",:\\ ', 'true', '"stream"', '"model"', '"a":'), text),
  );
  fc.assert(
    fc.property(body, fc.double({ min: 0, max: 1, noNaN: true }), fragments, (bytes, part, broken) => {
      const whole = bytes.toString().trimEnd();
      const cut = Buffer.from(whole).subarray(0, Math.floor(part * (Buffer.byteLength(whole) - 1)));
      expect(readObject(cut, ['stream'])).toBeUndefined();
      expect(fieldsOf(cut)).toEqual({ ...NO_FIELDS, body: cut });
      expect(() => fieldsOf(Buffer.from(broken.join('')))).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

it('finds members behind thousands of others with invalid escapes in their names', () => {
  const others = Array.from({ length: 20_000 }, (_, i) => `"\\x${i}":1,`).join('');
  const { model, stream } = fieldsOf(Buffer.from(`{${others}"model":"m","stream":true}`));
  expect([model, stream]).toEqual(['m', true]);
});

describe('the requested model', () => {
  /** Members named `model` at the top level, as `JSON.parse` with a duplicate check would see them. */
  const modelsIn = (bytes: Buffer) => {
    const seen: unknown[] = [];
    JSON.parse(bytes.toString(), function revive(this: unknown, key, of: unknown) {
      if (key === '') seen.push(of);
      return of;
    });
    return (seen.at(-1) as { model?: unknown }).model;
  };

  it('is the last string member `model`, and several or other values are unclear', () => {
    fc.assert(
      fc.property(body, (bytes) => {
        const { requestedModel, isModelUnclear } = fieldsOf(bytes);
        const model = modelsIn(bytes);
        if (typeof model === 'string') expect(requestedModel?.name).toBe(model);
        else expect([requestedModel, isModelUnclear]).toEqual([undefined, model !== undefined]);
      }),
    );
  });

  it('is replaced, together with the usage option, and no other byte changes', () => {
    fc.assert(
      fc.property(body, text, (bytes, upstreamModel) => {
        const { requestedModel, usageEdit } = fieldsOf(bytes);
        if (!requestedModel) return;
        const edit = modelEdit(requestedModel, upstreamModel)!;
        const edits = [edit, usageEdit].filter((each) => each !== undefined);
        const sent = applyEdits(bytes, edits);
        const given = parse(bytes);
        const stream_options = { ...(given.stream_options as object | null), include_usage: true };
        expect(parse(sent)).toEqual({
          ...given,
          model: upstreamModel,
          ...(usageEdit && { stream_options }),
        });
        const rest = (all: Buffer, at: number) => all.subarray(at).toString('latin1');
        if (!usageEdit) {
          expect(rest(sent.subarray(0, edit.start), 0)).toBe(rest(bytes.subarray(0, edit.start), 0));
          expect(rest(sent, edit.start + Buffer.byteLength(edit.text))).toBe(rest(bytes, edit.end));
        }
      }),
    );
  });

  it.each([
    ['{"model":"a","model":"a"}', 'a', true],
    ['{"mod\\u0065l":"a","model":"b"}', 'b', true],
    ['{"model":null}', undefined, true],
    ['{"model":["a"]}', undefined, true],
    ['{"model":"\\x"}', undefined, true],
    ['{"x":{"model":"a"},"model":"b"}', 'b', false],
    ['{"x":1}', undefined, false],
    ['["model"]', undefined, false],
    ['{"model":"a"', undefined, false],
  ])('is taken from %s: %s', (json, name, isModelUnclear) => {
    const fields = fieldsOf(Buffer.from(json));
    expect([fields.requestedModel?.name, fields.isModelUnclear]).toEqual([name, isModelUnclear]);
  });

  it.each([
    ['/v1/models/gpt-5', 'gpt-5'],
    ['/v1/models/openai%2Fgpt%205', 'openai/gpt 5'],
    ['/v1/models/a/b', 'a/b'],
    ['/v1/models/', undefined],
    ['/v1/models', undefined],
    ['/v1/models/%', undefined],
    ['/v1/files/gpt-5', undefined],
  ])('is taken from the path %s: %s', (path, name) => {
    expect(parseFields(path, {}, Buffer.alloc(0)).requestedModel?.name).toBe(name);
  });

  it('is recorded, wherever the request names it', () => {
    expect(parseFields('/v1/models/gpt-5', {}, Buffer.alloc(0)).model).toBe('gpt-5');
    expect(parseFields('/v1/models/gpt-5', {}, Buffer.from('{"x":1}')).model).toBe('gpt-5');
  });

  it('is read from a body with the encoding `identity`', () => {
    const headers = { 'content-encoding': 'Identity' };
    expect(parseFields(CHAT, headers, Buffer.from('{"model":"a"}')).requestedModel?.name).toBe('a');
  });

  const form = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nform\r\n--b--\r\n';
  it.each([
    ['a form', form, 'form', false],
    ['a form within JSON', `{"model":"json","x":"\r\n${form}"}`, 'form', true],
    ['a form after JSON', `\r\n{"model":"json"}\r\n${form}`, 'form', true],
    ['JSON', '{"model":"json"}', undefined, true],
  ])(
    'is read as a form field if the body is announced as a form and is %s',
    (_description, body, name, isModelUnclear) => {
      const headers = { 'content-type': 'Multipart/Form-Data; boundary=b' };
      const fields = parseFields('/v1/audio/transcriptions', headers, Buffer.from(body));
      expect([fields.requestedModel?.name, fields.isModelUnclear]).toEqual([name, isModelUnclear]);
    },
  );

  it('is not read from a form that is announced as JSON', () => {
    const headers = { 'content-type': 'application/json; boundary=b' };
    const fields = parseFields(CHAT, headers, Buffer.from(form));
    expect([fields.requestedModel, fields.model]).toEqual([undefined, null]);
  });
});
