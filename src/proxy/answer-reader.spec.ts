import fc from 'fast-check';
import { cuts, singly, splitAt } from '../../test/support/splits.js';
import { MalformedAnswer } from './answer-head.js';
import type { AnswerHead } from './answer-head.js';
import { AnswerReader } from './answer-reader.js';

/** What a reader told of some answers; the pieces of a body put together. */
interface Told {
  readonly answers: { status: number; headers: readonly string[]; body: string; isComplete: boolean }[];
  readonly isMalformed: boolean;
}

/** @param isClosed whether the connection ends behind the bytes */
function read(pieces: readonly Buffer[], { method = 'GET', isClosed = false } = {}): Told {
  const answers: Told['answers'] = [];
  const reader = new AnswerReader({
    head: ({ status, headers }) => answers.push({ status, headers, body: '', isComplete: false }),
    data: (chunk) => (answers.at(-1)!.body += chunk.toString('latin1')),
    end: () => (answers.at(-1)!.isComplete = true),
  });
  reader.begin(method);
  try {
    for (const piece of pieces) reader.feed(piece);
    if (isClosed) reader.close();
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedAnswer);
    return { answers, isMalformed: true };
  }
  return { answers, isMalformed: false };
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

/** A whole answer with what is to be told of it; those until the end of the connection only in the end. */
const answer = fc
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

it('reads the same however an answer is cut', () => {
  fc.assert(
    fc.property(answer, cuts, ({ bytes, isClosed, headers: given, ...expected }, places) => {
      for (const pieces of [[bytes], splitAt(bytes, places), singly(bytes)]) {
        const { answers, isMalformed } = read(
          pieces.filter(({ length }) => length > 0),
          { isClosed },
        );
        expect([isMalformed, answers.length]).toEqual([false, 1]);
        expect(answers[0]).toMatchObject({ status: expected.status, body: expected.body, isComplete: true });
        expect(answers[0]!.headers.slice(0, 2 * given.length)).toEqual(given.flat());
      }
    }),
    { numRuns: 300 },
  );
});

it('reads no end in what is cut short', () => {
  fc.assert(
    fc.property(answer, fc.double({ min: 0, max: 1, noNaN: true }), ({ bytes, isClosed }, part) => {
      fc.pre(!isClosed);
      const { answers, isMalformed } = read([bytes.subarray(0, Math.floor(part * (bytes.length - 1)))], {
        isClosed: true,
      });
      expect([isMalformed, answers.some(({ isComplete }) => isComplete)]).toEqual([false, false]);
    }),
  );
});

it('judges the same however the bytes are cut, whatever they are', () => {
  const piece = fc.oneof(
    fc.constantFrom('HTTP/1.1 200 OK\r\n', 'HTTP/1.0 200\r\n', '\r\n', '\n', '\r', ' ', '0', '5', 'abc', ':'),
    fc.constantFrom('Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n', '\r\n\r\n', '3\r\nabc\r\n'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece), cuts, (texts, places) => {
      const bytes = Buffer.from(texts.join(''), 'latin1');
      const whole = read([bytes]);
      for (const pieces of [splitAt(bytes, places), singly(bytes)]) {
        expect(read(pieces.filter(({ length }) => length > 0))).toEqual(whole);
      }
    }),
    { numRuns: 1_000 },
  );
});

it('takes nothing behind an answer for another one', () => {
  fc.assert(
    fc.property(answer, answer, (first, second) => {
      fc.pre(!first.isClosed);
      expect(read([Buffer.concat([first.bytes, second.bytes])])).toMatchObject({
        isMalformed: true,
        answers: [{ body: first.body, isComplete: true }],
      });
    }),
  );
});

describe('accepts no answer that could be read in two ways:', () => {
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
  ])('%j', (head) => expect(readText(head)).toEqual({ isMalformed: true, answers: [] }));
});

it('follows the chunks where there is a length, too, and does not use the connection again', () => {
  const text =
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n';
  const heads: AnswerHead[] = [];
  let body = '';
  const reader = new AnswerReader({
    head: (head) => heads.push(head),
    data: (chunk) => (body += chunk.toString()),
    end: () => undefined,
  });
  reader.begin('GET');
  reader.feed(Buffer.from(text));
  // The length is not passed on: where the answer ends would be the upstream's to say, and another one's to read.
  expect(heads).toMatchObject([{ persistent: false, headers: ['transfer-encoding', 'chunked'] }]);
  expect([body, reader.inAnswer]).toEqual(['ab', false]);
});

it('tells a length once that is there twice', () => {
  const { answers } = readText('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\nContent-Length: 2\r\n\r\nab');
  expect(answers).toMatchObject([{ headers: ['content-length', '2', 'a', 'b'], isComplete: true }]);
});

it.each([
  ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
  ['HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'],
  ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
])('expects no body of an answer to %s: %j', (method, text) => {
  expect(readText(text, { method })).toMatchObject({
    isMalformed: false,
    answers: [{ isComplete: true, body: '' }],
  });
  expect(readText(`${text}x`, { method })).toMatchObject({ isMalformed: true });
});
