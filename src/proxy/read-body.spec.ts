import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { HttpRequest } from '../common/http-exchange.js';
import type { Settings } from '../config/settings.js';
import { BodyMemory, LARGE_BODY_BYTES } from './body-memory.js';
import type { HeldBody } from './body-memory.js';
import { readBody } from './read-body.js';

const LIMIT_BYTES = 10;
const CHUNKED = { 'transfer-encoding': 'chunked' };

type Incoming = HttpRequest & PassThrough;

function incoming(headers: Record<string, string>): Incoming {
  return Object.assign(new PassThrough(), { headers }) as unknown as Incoming;
}

const memoryOf = (proxyBodyMemoryBytes: number) => new BodyMemory({ proxyBodyMemoryBytes } as Settings);

/** Reads a body that comes in these chunks: what was told of it. */
async function toldOf(headers: Record<string, string>, ...chunks: string[]): Promise<string[]> {
  const told: string[] = [];
  const request = incoming(headers);
  readBody(request, LIMIT_BYTES, memoryOf(1), {
    read: (body) => told.push(body.toString()),
    tooLarge: () => told.push('too large'),
  });
  for (const chunk of chunks) {
    request.write(chunk);
    await turn();
  }
  request.end();
  await turn();
  return told;
}

it.each([
  ['none', {}, [], ['']],
  ['one of no length', { 'content-length': '0' }, [], ['']],
  ['one in pieces', { 'content-length': '10' }, ['12345', '67890'], ['1234567890']],
  ['one in chunks', CHUNKED, ['12345', '67890'], ['1234567890']],
  ['one that is announced as too large', { 'content-length': '11' }, ['12345', '678901'], ['too large']],
  ['one that turns out too large', CHUNKED, ['12345', '678901', '2345', '6'], ['too large']],
])('tells once of %s', async (_what, headers, chunks, told) => {
  expect(await toldOf(headers, ...chunks)).toEqual(told);
});

describe('large bodies', () => {
  const BYTES = 3 * LARGE_BODY_BYTES;
  const PIECE = Buffer.alloc(LARGE_BODY_BYTES / 4, 'x');
  const ANNOUNCED = { 'content-length': String(BYTES) };
  let memory: BodyMemory;

  beforeEach(() => (memory = memoryOf(2 * BYTES)));

  interface Reading {
    readonly request: Incoming;
    /** Once it is read. */
    body?: Buffer;
    held?: HeldBody;
    isTooLarge?: boolean;
    /** Sends this much of it, or as much as is taken. */
    send(bytes?: number): Promise<void>;
  }

  function reading(headers: Record<string, string> = ANNOUNCED, limitBytes = BYTES): Reading {
    const request = incoming(headers);
    const it: Reading = {
      request,
      send: async (bytes = BYTES) => {
        for (let sent = 0; sent < bytes; sent += PIECE.length) {
          request.write(PIECE);
          await turn();
        }
        if (bytes >= BYTES) request.end();
        await turn();
      },
    };
    readBody(request, limitBytes, memory, {
      read: (body, held) => Object.assign(it, { body, held }),
      tooLarge: () => (it.isTooLarge = true),
    });
    return it;
  }

  const isRead = ({ body }: Reading) => body?.length === BYTES;

  it.each([
    ['announced', ANNOUNCED],
    ['in chunks', CHUNKED],
  ])('that are %s are read in turn, as there is memory for them', async (_, headers) => {
    const bodies = Array.from({ length: 5 }, () => reading(headers));
    await Promise.all(bodies.map((body) => body.send()));
    expect(bodies.map(isRead)).toEqual([true, true, false, false, false]);
    bodies[1]!.held!.release();
    await eventuallyRead(bodies[2]!);
    expect(bodies.map(isRead)).toEqual([true, true, true, false, false]);
    bodies[0]!.held!.release();
    bodies[2]!.held!.release();
    await eventuallyRead(bodies[4]!);
    for (const { body } of bodies) expect(body!.every((byte) => byte === PIECE[0])).toBe(true);
  });

  it('that are larger than all memory are read one by one', async () => {
    memory = memoryOf(1);
    const [first, second] = [reading(), reading()];
    await Promise.all([first.send(), second.send()]);
    expect([isRead(first), isRead(second)]).toEqual([true, false]);
    first.held!.release();
    await eventuallyRead(second);
  });

  it('do not hold up small ones', async () => {
    await Promise.all([reading().send(), reading().send()]);
    const small = reading({ 'content-length': '8' });
    small.request.write('1234');
    await turn();
    small.request.write('5678');
    await turn();
    expect(small.body?.toString()).toBe('12345678');
    expect(small.held).toBeUndefined();
  });

  it('whose client leaves, waiting or in the middle, make room for others', async () => {
    const [leaving, other, waiting, last] = [reading(), reading(), reading(), reading()];
    await leaving.send(BYTES / 2);
    await Promise.all([other.send(), waiting.send(), last.send()]);
    expect([other, waiting, last].map(isRead)).toEqual([true, false, false]);
    waiting.request.destroy();
    leaving.request.destroy();
    await eventuallyRead(last);
    expect(isRead(waiting)).toBe(false);
  });

  it('that turn out too large make room for others', async () => {
    memory = memoryOf(BYTES);
    const [large, other] = [reading(CHUNKED, BYTES - 1), reading()];
    await large.send(BYTES / 2);
    await other.send();
    expect(isRead(other)).toBe(false);
    await large.send();
    expect(large.isTooLarge).toBe(true);
    await eventuallyRead(other);
  });

  it('in chunks take what they turn out to be', async () => {
    memory = memoryOf(3 * BYTES);
    const small = [reading(CHUNKED, 2 * BYTES), reading(CHUNKED, 2 * BYTES), reading(CHUNKED, 2 * BYTES)];
    for (const body of small) await body.send();
    for (const body of small.slice(0, 2)) expect(isRead(body)).toBe(true);
    expect(isRead(small[2]!)).toBe(false); // as it may be twice as large
    small[0]!.held!.release();
    await eventuallyRead(small[2]!);
  });

  async function eventuallyRead(body: Reading): Promise<void> {
    for (let turns = 0; turns < 1_000 && !isRead(body); turns++) await turn();
    expect(isRead(body)).toBe(true);
  }
});
