import { findFormModel, hasSecondFormModel } from './form-model.js';

const TYPE = 'multipart/form-data; boundary=xyz';
const part = (name: string, value: string, more = '') =>
  `--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const form = (...parts: string[]) => Buffer.from(`${parts.join('')}--xyz--\r\n`);
const FILE = part('file', 'RIFF', '; filename="a.wav"\r\nContent-Type: audio/wav');

function modelOf(body: Buffer, type = TYPE): string | undefined {
  const span = findFormModel(body, type);
  return span && body.toString('utf8', span.start, span.end);
}

it.each([
  ['first', form(part('model', 'whisper-1'), FILE), 'whisper-1'],
  ['behind other fields', form(part('language', 'de'), part('model', 'whisper-1'), FILE), 'whisper-1'],
  ['behind a preamble', Buffer.concat([Buffer.from('hello\r\n'), form(part('model', 'm'))]), 'm'],
  ['behind a file', form(FILE, part('model', 'whisper-1')), undefined],
  ['a file', form(part('model', 'x', '; filename="model"')), undefined],
  ['beyond 64 KiB', form(part('prompt', 'x'.repeat(65_536)), part('model', 'm')), undefined],
  [
    'without an end',
    Buffer.from('--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nm'),
    undefined,
  ],
  ['without a boundary', Buffer.from('hello'), undefined],
  ['empty', Buffer.alloc(0), undefined],
])('a field `model` that is %s', (_place, body, model) => {
  expect(modelOf(body)).toBe(model);
});

it('accepts quoted boundaries and names without quotes', () => {
  const body = Buffer.from('--a b\r\ncontent-disposition: form-data; name=model\r\n\r\nm\r\n--a b--');
  expect(modelOf(body, 'Multipart/Form-Data; boundary="a b"')).toBe('m');
  expect(modelOf(body, 'multipart/mixed; boundary="a b"')).toBeUndefined();
  expect(modelOf(body, 'multipart/form-data')).toBeUndefined();
});

it('finds a second field `model` at any place', () => {
  expect(hasSecondFormModel(form(part('model', 'a'), FILE), TYPE)).toBe(false);
  expect(hasSecondFormModel(form(part('model', 'a'), FILE, part('model', 'b')), TYPE)).toBe(true);
});
