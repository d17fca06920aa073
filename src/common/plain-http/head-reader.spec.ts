import fc from 'fast-check';
import { HeadReader } from './head-reader.js';
import { readPlainHead } from './plain-head.js';

const LIMIT_BYTES = 101; // some heads reach it by their length

const length = fc.constantFrom('0', '3', '3', '12', '1024', '007', '1234567890123456', '', '1x', '3 ');
const lines = fc.constantFrom(
  'Host: x\r\n',
  'Host: x\r\nX-Length: 3\r\n',
  'host: x\r\nX-Content-Length: 12\r\n',
);
const said = fc.constantFrom('Content-Length: ', 'content-length:', 'Content-Length:  ', 'Content-Length : ');
const more = fc.constantFrom('', '', 'Accept: 3\r\n', 'Content-Length: 3\r\n', `X-A: ${'a'.repeat(50)}\r\n`);
const body = fc.constantFrom('', '3', '{}', '\r\n', 'GET / HTTP/1.1\r\n');

/** What a head says, around the length of the body. */
const around = fc.oneof(
  fc.tuple(lines, said, more).map(([first, name, last]) => ({
    before: `POST / HTTP/1.1\r\n${first}${name}`,
    after: `\r\n${last}\r\n`,
  })),
  fc
    .tuple(lines, more)
    .map(([first, last]) => ({ before: `GET / HTTP/1.1\r\n${first}X: `, after: `\r\n${last}\r\n` })),
);
/** Of one connection, where mostly the same is said; some are not all there. */
const heads = fc.array(around, { minLength: 1, maxLength: 2 }).chain((known) =>
  fc.array(
    fc
      .tuple(fc.constantFrom(...known), length, body, fc.oneof(fc.constant(0), fc.constant(0), fc.nat(120)))
      .map(([{ before, after }, value, rest, missing]) => {
        const text = `${before}${value}${after}${rest}`;
        return text.slice(0, text.length - missing);
      }),
    { minLength: 2, maxLength: 12 },
  ),
);

it('reads each head as if it were the first', () => {
  let equal = 0;
  fc.assert(
    fc.property(heads, (texts) => {
      const reader = new HeadReader(LIMIT_BYTES);
      for (const text of texts) {
        const bytes = Buffer.from(text, 'latin1');
        const expected = readPlainHead(bytes, LIMIT_BYTES);
        expect(reader.read(bytes)).toEqual(expected);
        if (expected) equal++;
      }
    }),
    { numRuns: 2_000 },
  );
  expect(equal).toBeGreaterThan(1_000);
});

const bytesOf = (contentLength: number) =>
  Buffer.from(`POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: ${contentLength}\r\nAccept: */*\r\n\r\n`);

it('leaves the bytes to who has read them', () => {
  const reader = new HeadReader(LIMIT_BYTES);
  const bytes = bytesOf(5);
  const first = reader.read(bytes)!;
  bytes.fill(0);
  expect(reader.read(bytesOf(1_024))).toMatchObject({ bodyLength: 1_024, url: '/v1' });
  expect(reader.read(bytesOf(5))).toEqual(first);
  expect(first).toMatchObject({
    bodyLength: 5,
    rawHeaders: ['Host', 'x', 'Content-Length', '5', 'Accept', '*/*'],
  });
});
