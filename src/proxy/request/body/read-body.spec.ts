import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpRequest } from '../../../http/http-exchange.js';
import type { Settings } from '../../../config/settings.js';
import { BodyBudget } from './body-budget.js';
import { LARGE_BODY_BYTES } from './held-body.js';
import type { HeldBody } from './held-body.js';
import { readBody } from './read-body.js';

const LIMIT_BYTES = 10;
const CHUNKED = { 'transfer-encoding': 'chunked' };

type Incoming = HttpRequest & PassThrough;

function incoming(headers: Record<string, string>): Incoming {
  return Object.assign(new PassThrough(), { headers }) as unknown as Incoming;
}

const budgetOf = (proxyBodyMemoryBytes: number) => new BodyBudget({ proxyBodyMemoryBytes } as Settings);
const OWNER = 1;

/** Reads a body that arrives in these chunks. @returns every outcome that was reported */
async function readChunks(headers: Record<string, string>, ...chunks: string[]): Promise<string[]> {
  const outcomes: string[] = [];
  const request = incoming(headers);
  readBody(
    request,
    { limitBytes: LIMIT_BYTES, budget: budgetOf(1), ownerId: OWNER },
    {
      onRead: (body) => outcomes.push(body.toString()),
      onTooLarge: () => outcomes.push('too large'),
      onTooSlow: () => outcomes.push('too slow'),
    },
  );
  for (const chunk of chunks) {
    request.write(chunk);
    await nextTurn();
  }
  request.end();
  await nextTurn();
  return outcomes;
}

it.each([
  ['no body', {}, [], ['']],
  ['an empty body', { 'content-length': '0' }, [], ['']],
  ['a body in two reads', { 'content-length': '10' }, ['12345', '67890'], ['1234567890']],
  ['a chunked body', CHUNKED, ['12345', '67890'], ['1234567890']],
  [
    'a body with a Content-Length above the limit',
    { 'content-length': '11' },
    ['12345', '678901'],
    ['too large'],
  ],
  ['a chunked body above the limit', CHUNKED, ['12345', '678901', '2345', '6'], ['too large']],
])('reports %s once', async (_description, headers, chunks, outcomes) => {
  expect(await readChunks(headers, ...chunks)).toEqual(outcomes);
});

describe('large bodies', () => {
  const BYTES = 3 * LARGE_BODY_BYTES;
  const READ = Buffer.alloc(LARGE_BODY_BYTES / 4, 'x');
  const WITH_LENGTH = { 'content-length': String(BYTES) };
  /** Size of a budget. One owner gets half of it. */
  const ROOM_FOR_TWO = 4 * BYTES;
  let budget: BodyBudget;

  beforeEach(() => (budget = budgetOf(ROOM_FOR_TWO)));

  interface Upload {
    readonly request: Incoming;
    /** Body, once it was read. */
    body?: Buffer;
    held?: HeldBody;
    isTooLarge?: boolean;
    isTooSlow?: boolean;
    /** Sends this many bytes, and the end after all bytes. */
    send(bytes?: number): Promise<void>;
  }

  function startUpload(headers: Record<string, string> = WITH_LENGTH, limitBytes = BYTES): Upload {
    const request = incoming(headers);
    const upload: Upload = {
      request,
      send: async (bytes = BYTES) => {
        for (let sent = 0; sent < bytes; sent += READ.length) {
          request.write(READ);
          await nextTurn();
        }
        if (bytes >= BYTES) request.end();
        await nextTurn();
      },
    };
    readBody(
      request,
      { limitBytes, budget, ownerId: OWNER },
      {
        onRead: (body, held) => Object.assign(upload, { body, held }),
        onTooLarge: () => (upload.isTooLarge = true),
        onTooSlow: () => (upload.isTooSlow = true),
      },
    );
    return upload;
  }

  const isRead = ({ body }: Upload) => body?.length === BYTES;

  it.each([
    ['with a Content-Length', WITH_LENGTH],
    ['in chunks', CHUNKED],
  ])('%s are read one after the other as memory becomes free', async (_description, headers) => {
    const bodies = Array.from({ length: 5 }, () => startUpload(headers));
    await Promise.all(bodies.map((body) => body.send()));
    expect(bodies.map(isRead)).toEqual([true, true, false, false, false]);
    bodies[1]!.held!.release();
    await eventuallyRead(bodies[2]!);
    expect(bodies.map(isRead)).toEqual([true, true, true, false, false]);
    bodies[0]!.held!.release();
    bodies[2]!.held!.release();
    await eventuallyRead(bodies[4]!);
    for (const { body } of bodies) expect(body!.every((byte) => byte === READ[0])).toBe(true);
  });

  it('larger than the whole budget are read one by one', async () => {
    budget = budgetOf(1);
    const [first, second] = [startUpload(), startUpload()];
    await Promise.all([first.send(), second.send()]);
    expect([isRead(first), isRead(second)]).toEqual([true, false]);
    first.held!.release();
    await eventuallyRead(second);
  });

  it('do not delay small bodies', async () => {
    await Promise.all([startUpload().send(), startUpload().send()]);
    const small = startUpload({ 'content-length': '8' });
    small.request.write('1234');
    await nextTurn();
    small.request.write('5678');
    await nextTurn();
    expect(small.body?.toString()).toBe('12345678');
    expect(small.held).toBeUndefined();
  });

  it('free their memory when the client disconnects, while waiting or arriving', async () => {
    const [leaving, other, waiting, last] = [startUpload(), startUpload(), startUpload(), startUpload()];
    await leaving.send(BYTES / 2);
    await Promise.all([other.send(), waiting.send(), last.send()]);
    expect([other, waiting, last].map(isRead)).toEqual([true, false, false]);
    waiting.request.destroy();
    leaving.request.destroy();
    await eventuallyRead(last);
    expect(isRead(waiting)).toBe(false);
  });

  it('free their memory when they exceed the limit', async () => {
    budget = budgetOf(2 * BYTES);
    const [large, other] = [startUpload(CHUNKED, BYTES - 1), startUpload()];
    await large.send(BYTES / 2);
    await other.send();
    expect(isRead(other)).toBe(false);
    await large.send();
    expect(large.isTooLarge).toBe(true);
    await eventuallyRead(other);
  });

  it('reserve their actual size once they are complete if they are sent in chunks', async () => {
    budget = budgetOf(6 * BYTES);
    const small = [
      startUpload(CHUNKED, 2 * BYTES),
      startUpload(CHUNKED, 2 * BYTES),
      startUpload(CHUNKED, 2 * BYTES),
    ];
    for (const body of small) await body.send();
    for (const body of small.slice(0, 2)) expect(isRead(body)).toBe(true);
    expect(isRead(small[2]!)).toBe(false); // it reserves the maximum size until its end
    small[0]!.held!.release();
    await eventuallyRead(small[2]!);
  });

  it.each([
    ['are rejected', 'after', LARGE_BODY_BYTES + READ.length, true],
    ['are not rejected', 'within', LARGE_BODY_BYTES - READ.length, undefined],
  ])('%s if they stall %s their first MiB', async (_result, _position, bytes, isTooSlow) => {
    const body = startUpload();
    await body.send(bytes);
    for (let ticks = 0; ticks < 12; ticks++) budget.tick();
    expect(body.isTooSlow).toBe(isTooSlow);
    await body.send(BYTES - bytes);
    expect(isRead(body)).toBe(!isTooSlow);
  });

  it('free their memory when they are rejected as too slow', async () => {
    budget = budgetOf(1);
    const [stalled, other] = [startUpload(), startUpload()];
    await stalled.send(2 * LARGE_BODY_BYTES);
    await other.send();
    for (let ticks = 0; ticks < 12; ticks++) budget.tick();
    await eventuallyRead(other);
    expect([stalled.isTooSlow, other.isTooSlow]).toEqual([true, undefined]);
  });

  async function eventuallyRead(body: Upload): Promise<void> {
    for (let turns = 0; turns < 1_000 && !isRead(body); turns++) await nextTurn();
    expect(isRead(body)).toBe(true);
  }
});
