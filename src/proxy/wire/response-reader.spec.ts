import fc from 'fast-check';
import { cpuMs } from '../../../test/support/cpu.js';
import { cuts, splitBytes, splitAt } from '../../../test/support/splits.js';
import type { ResponseHeaders } from './response-headers.js';
import { ResponseReader } from './response-reader.js';
import { MalformedResponse } from './malformed-response.js';

/** Responses that a reader delivered, with joined bodies. */
interface ReadResult {
  readonly responses: { status: number; headers: readonly string[]; body: string; isComplete: boolean }[];
  readonly isMalformed: boolean;
}

/** @param isClosed whether the connection ends after the bytes */
function read(pieces: readonly Buffer[], { method = 'GET', isClosed = false } = {}): ReadResult {
  const responses: ReadResult['responses'] = [];
  const reader = new ResponseReader({
    onResponseHeaders: ({ status, rawHeaders: headers }) =>
      responses.push({ status, headers, body: '', isComplete: false }),
    onData: (chunk) => (responses.at(-1)!.body += chunk.toString('latin1')),
    onEnd: () => (responses.at(-1)!.isComplete = true),
  });
  reader.expectResponse(method);
  try {
    for (const piece of pieces) reader.read(piece);
    if (isClosed) reader.endInput();
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedResponse);
    return { responses, isMalformed: true };
  }
  return { responses, isMalformed: false };
}

const readText = (text: string, options?: Parameters<typeof read>[1]) =>
  read([Buffer.from(text, 'latin1')], options);

const token = fc.stringMatching(/^x-[a-z0-9]{1,8}$/);
const fieldValue = fc.stringMatching(/^[!-~]([ !-~]{0,20}[!-~])?$/);
const headers = fc.array(fc.tuple(token, fieldValue), { maxLength: 5 });
const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const status = fc.integer({ min: 200, max: 599 }).filter((code) => code !== 204 && code !== 304);

const asLength = (text: string) => [`Content-Length: ${text.length}\r\n`, text];
const asChunks = (text: string, places: readonly number[], extension: string) => {
  const pieces = splitAt(Buffer.from(text, 'latin1'), places).filter(({ length }) => length > 0);
  const written = pieces.map(
    (piece) => `${piece.length.toString(16)}${extension}\r\n${piece.toString('latin1')}\r\n`,
  );
  return ['Transfer-Encoding: chunked\r\n', `${written.join('')}0${extension}\r\nX-Trailer: 1\r\n\r\n`];
};

/** Complete response with the expected result. Responses that end with the connection are complete at the end only. */
const response = fc
  .record({
    ...{ status, headers, body, places: cuts },
    framing: fc.constantFrom('length', 'chunked', 'close'),
    extension: fc.constantFrom('', ' ', ';a', '; a="b"'),
    hints: fc.nat(2),
  })
  .map(({ framing, extension, places, hints, ...given }) => {
    const [framed, text] =
      framing === 'length'
        ? asLength(given.body)
        : framing === 'chunked'
          ? asChunks(given.body, places, extension)
          : ['', given.body];
    const lines = given.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const before = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(hints);
    const bytes = Buffer.from(
      `${before}HTTP/1.1 ${given.status} Some Reason\r\n${lines}${framed}\r\n${text}`,
      'latin1',
    );
    return { ...given, bytes, isClosed: framing === 'close' };
  });

it('reads a response independent of how its bytes are split', () => {
  fc.assert(
    fc.property(response, cuts, ({ bytes, isClosed, headers: given, ...expected }, places) => {
      for (const pieces of [[bytes], splitAt(bytes, places), splitBytes(bytes)]) {
        const { responses, isMalformed } = read(
          pieces.filter(({ length }) => length > 0),
          { isClosed },
        );
        expect([isMalformed, responses.length]).toEqual([false, 1]);
        expect(responses[0]).toMatchObject({
          status: expected.status,
          body: expected.body,
          isComplete: true,
        });
        expect(responses[0]!.headers.slice(0, 2 * given.length)).toEqual(given.flat());
      }
    }),
    { numRuns: 300 },
  );
});

it('does not report the end of a truncated response', () => {
  fc.assert(
    fc.property(response, fc.double({ min: 0, max: 1, noNaN: true }), ({ bytes, isClosed }, part) => {
      fc.pre(!isClosed);
      const { responses, isMalformed } = read([bytes.subarray(0, Math.floor(part * (bytes.length - 1)))], {
        isClosed: true,
      });
      expect([isMalformed, responses.some(({ isComplete }) => isComplete)]).toEqual([false, false]);
    }),
  );
});

it('accepts or rejects any bytes independent of how they are split', () => {
  const piece = fc.oneof(
    fc.constantFrom('HTTP/1.1 200 OK\r\n', 'HTTP/1.0 200\r\n', '\r\n', '\n', '\r', ' ', '0', '5', 'abc', ':'),
    fc.constantFrom('Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n', '\r\n\r\n', '3\r\nabc\r\n'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece), cuts, (texts, places) => {
      const bytes = Buffer.from(texts.join(''), 'latin1');
      const whole = read([bytes]);
      for (const pieces of [splitAt(bytes, places), splitBytes(bytes)]) {
        expect(read(pieces.filter(({ length }) => length > 0))).toEqual(whole);
      }
    }),
    { numRuns: 1_000 },
  );
});

it('rejects bytes after a response as malformed', () => {
  fc.assert(
    fc.property(response, response, (first, second) => {
      fc.pre(!first.isClosed);
      expect(read([Buffer.concat([first.bytes, second.bytes])])).toMatchObject({
        isMalformed: true,
        responses: [{ body: first.body, isComplete: true }],
      });
    }),
  );
});

describe('rejects ambiguous responses:', () => {
  it.each([
    ['two lengths', 'Content-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a list of lengths', 'Content-Length: 1, 1\r\n\r\na'],
    ['a signed length', 'Content-Length: +1\r\n\r\na'],
    ['a length in hex', 'Content-Length: 0x1\r\n\r\na'],
    ['an empty length', 'Content-Length:\r\n\r\na'],
    ['a length that no number holds', 'Content-Length: 99999999999999999999\r\n\r\na'],
    ['a coding before chunked', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['a coding behind chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['an unknown coding', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 1\r\n\r\na'],
    ['a folded header', 'X: a\r\n Content-Length: 1\r\n\r\na'],
    ['a header without a name', ': 1\r\n\r\n'],
    ['a header without a colon', 'Content-Length\r\n\r\n'],
    ['a line feed alone in a header', 'X: a\nContent-Length: 1\r\n\r\na'],
    ['a carriage return alone in a header', 'X: a\rContent-Length: 1\r\n\r\na'],
    ['U+0000 in a header', 'X: a\0\r\nContent-Length: 1\r\n\r\na'],
    ['a chunk without a size', 'Transfer-Encoding: chunked\r\n\r\n\r\na\r\n0\r\n\r\n'],
    ['a negative chunk', 'Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n'],
    ['a chunk of 0x', 'Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n'],
    ['a chunk size that no number holds', 'Transfer-Encoding: chunked\r\n\r\n1fffffffffffff\r\na'],
    ['a size line that ends with a line feed alone', 'Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n'],
    ['a chunk that is longer than it says', 'Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n'],
    ['a size line without an end', `Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(5_000)}`],
    ['a head without an end', `X: ${'x'.repeat(70_000)}`],
    ['lines that end with line feeds alone, whatever follows', 'X: a\n\n'],
  ])('%s', (_what, rest) => {
    expect(readText(`HTTP/1.1 200 OK\r\n${rest}`)).toMatchObject({ isMalformed: true });
  });

  it.each([
    'HTTP/2 200\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 2000\r\n\r\n',
    ' HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\nContent-Length: 0\n\n',
    'SSH-2.0-OpenSSH_9.2\r\n',
    '\x15\x03\x01',
    'HTTP/2',
  ])('%j', (head) => expect(readText(head)).toEqual({ isMalformed: true, responses: [] }));
});

it('prefers chunks over a length and does not reuse the connection', () => {
  const text =
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n';
  const received: ResponseHeaders[] = [];
  let body = '';
  const reader = new ResponseReader({
    onResponseHeaders: (headers) => received.push(headers),
    onData: (chunk) => (body += chunk.toString()),
    onEnd: () => undefined,
  });
  reader.expectResponse('GET');
  reader.read(Buffer.from(text));
  // Relaying the length as well would allow response splitting.
  expect(received).toMatchObject([{ isPersistent: false, rawHeaders: ['transfer-encoding', 'chunked'] }]);
  expect([body, reader.hasPartialResponse]).toEqual(['ab', false]);
});

it('merges two equal lengths into one', () => {
  const { responses } = readText(
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\nContent-Length: 2\r\n\r\nab',
  );
  expect(responses).toMatchObject([{ headers: ['content-length', '2', 'a', 'b'], isComplete: true }]);
});

it.each([
  ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
  ['HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'],
  ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
])('expects no body in the response to %s: %j', (method, text) => {
  expect(readText(text, { method })).toMatchObject({
    isMalformed: false,
    responses: [{ isComplete: true, body: '' }],
  });
  expect(readText(`${text}x`, { method })).toMatchObject({ isMalformed: true });
});

const fields = (count: number, name = 'X') => `${name}: 1\r\n`.repeat(count);
const withLength = (lines: string) => `HTTP/1.1 200 OK\r\n${lines}Content-Length: 1\r\n\r\na`;
const withTrailers = (lines: string, trailers: string) =>
  `HTTP/1.1 200 OK\r\n${lines}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n${trailers}\r\n`;
const informed = (count: number, lines = '') =>
  `HTTP/1.1 103 Early Hints\r\n${lines}\r\n`.repeat(count) + withLength('');

describe.each(['at once', 'byte by byte'])('headers that arrive %s are malformed:', (how) => {
  it.each([
    ['200 fields', false, withLength(fields(199))],
    ['201 fields', true, withLength(fields(200))],
    ['200 fields with trailers', false, withTrailers(fields(99), fields(100))],
    ['201 fields with trailers', true, withTrailers(fields(99), fields(101))],
    ['64 KiB', false, withLength(`X: ${'x'.repeat(65_497)}\r\n`)],
    ['64 KiB and a byte', true, withLength(`X: ${'x'.repeat(65_498)}\r\n`)],
    ['a long trailer', false, withTrailers('', `X: ${'x'.repeat(60_000)}\r\n`)],
    [
      '64 KiB with trailers',
      true,
      withTrailers(`X: ${'x'.repeat(60_000)}\r\n`, `X: ${'x'.repeat(6_000)}\r\n`),
    ],
    ['a trailer without an end', true, withTrailers('', 'x'.repeat(66_000)).slice(0, -2)],
    ['10 informational responses', false, informed(10)],
    ['11 informational responses', true, informed(11)],
    ['informational responses with 200 fields', false, informed(1, fields(199))],
    ['informational responses with 201 fields', true, informed(2, fields(100))],
  ])('%s: %s', (_what, isMalformed, text) => {
    const bytes = Buffer.from(text);
    const told = read(how === 'at once' ? [bytes] : splitBytes(bytes));
    expect([told.isMalformed, told.responses[0]?.isComplete ?? false]).toEqual([isMalformed, !isMalformed]);
  });
});

/** Reads a response in pieces and counts the calls of `onData`. */
function callsFor(pieces: readonly Buffer[]): { calls: number; bytes: number } {
  const told = { calls: 0, bytes: 0 };
  const reader = new ResponseReader({
    onResponseHeaders: () => undefined,
    onData: ({ length }) => {
      told.calls++;
      told.bytes += length;
    },
    onEnd: () => undefined,
  });
  reader.expectResponse('GET');
  for (const piece of pieces) reader.read(piece);
  return told;
}

const CHUNKED = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
const READ_BYTES = 65_536;

/** Splits a body in chunks of one size into full socket reads. */
function readsOf(chunkBytes: number, wireBytes: number): Buffer[] {
  const chunk = `${chunkBytes.toString(16)}\r\n${'x'.repeat(chunkBytes)}\r\n`;
  const body = Buffer.from(chunk.repeat(Math.ceil(wireBytes / chunk.length)));
  const places = Array.from({ length: Math.ceil(body.length / READ_BYTES) }, (_, i) => i * READ_BYTES);
  return [CHUNKED, ...places.map((at) => body.subarray(at, at + READ_BYTES))];
}

it('delivers the one-byte chunks of one read together', () => {
  const reads = readsOf(1, 600_000);
  const { calls, bytes } = callsFor(reads);
  expect(bytes).toBeGreaterThanOrEqual(100_000);
  expect(calls).toBeLessThanOrEqual(reads.length);
});

it('reads one-byte chunks with little more CPU than copying them', () => {
  const bytes = 3_000_000;
  const small = readsOf(1, bytes);
  const large = readsOf(16_384, bytes);
  const copied = () => {
    const reader = new ResponseReader({
      onResponseHeaders: () => undefined,
      // The minimum of a relay: one copy, and one copy to the kernel.
      onData: (chunk) => void Buffer.from(Buffer.from(chunk)),
      onEnd: () => undefined,
    });
    reader.expectResponse('GET');
    for (const read of large) reader.read(read);
  };
  // One buffer per chunk took several hundred times as long as a copy.
  expect(cpuMs(() => void callsFor(small))).toBeLessThan(Math.max(1_000, 20 * cpuMs(copied)));
});

it.each<[string, (text: string) => Buffer]>([
  ['headers', (text) => Buffer.from(`HTTP/1.1 200 OK\r\nX: ${text}\r\n`)],
  ['trailers', (text) => Buffer.concat([CHUNKED, Buffer.from(`0\r\nX: ${text}`)])],
  ['a body', (text) => Buffer.concat([CHUNKED, Buffer.from(`fffff\r\n${text}`)])],
])('reads %s that arrive byte by byte in linear time', (_what, bytesOf) => {
  const msFor = (length: number) => cpuMs(() => void callsFor(splitBytes(bytesOf('x'.repeat(length)))), 3);
  // Quadratic reading would take seconds, and 16 times as long as a quarter.
  expect(msFor(60_000)).toBeLessThan(Math.max(500, 10 * msFor(15_000)));
});
