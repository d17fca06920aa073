import type { HttpRequest } from '../common/http-exchange.js';
import { LARGE_BODY_BYTES } from './body-memory.js';
import type { BodyMemory, HeldBody } from './body-memory.js';
import { EMPTY } from './empty.js';

/** How much room a body gets at first whose length is not known. */
const UNANNOUNCED_BYTES = 131_072;

/** What becomes of a body: one of the two, unless the client leaves. */
export interface BodyEvents {
  /** @param held to be released once the body is not needed any more; undefined for one that is not large */
  read(body: Buffer, held?: HeldBody): void;
  tooLarge(): void;
}

/**
 * Reads a whole body, for it may have to be sent to several upstreams. What is left of one that is too large is for the
 * server to drop, as that of any request whose answer does not wait for it.
 * @param limitBytes on the wire
 */
export function readBody(
  request: HttpRequest,
  limitBytes: number,
  memory: BodyMemory,
  events: BodyEvents,
): void {
  const { headers } = request;
  const announced = headers['content-length'];
  if (announced === undefined && headers['transfer-encoding'] === undefined) return events.read(EMPTY);
  if (Number(announced) > limitBytes) return events.tooLarge();
  const expected = Number(announced); // NaN where the body comes in chunks
  let body: BodyBuffer | undefined;
  let held: HeldBody | undefined;
  const leave = () => held?.release();
  const finish = () => {
    request.off('close', leave);
    held?.shrinkTo(body!.length);
    events.read(body?.all ?? EMPTY, held);
  };
  const take = (chunk: Buffer) => {
    if (chunk.length === expected) return events.read(chunk);
    body ??= new BodyBuffer(expected);
    body.append(chunk);
    if (body.length === expected) return finish(); // sooner than the end is told
    if (body.length > limitBytes) {
      request.off('data', take).off('end', finish);
      leave();
      return events.tooLarge();
    }
    if (held || Math.max(expected || 0, body.length) <= LARGE_BODY_BYTES) return;
    held = memory.reserve(request, expected || limitBytes);
    request.once('close', leave);
  };
  request.on('data', take);
  if (!(expected > 0)) request.on('end', finish);
}

/** Puts a body together in one place: its pieces and the whole of them would take twice the memory. */
class BodyBuffer {
  length = 0;
  private room: Buffer;

  /** @param expected how long it is going to be; NaN where that is not known */
  constructor(private readonly expected: number) {
    this.room = Buffer.allocUnsafeSlow(Math.min(expected || UNANNOUNCED_BYTES, LARGE_BODY_BYTES));
  }

  get all(): Buffer {
    return this.room.subarray(0, this.length);
  }

  append(chunk: Buffer): void {
    const needed = this.length + chunk.length;
    if (needed > this.room.length) this.grow(this.expected || Math.max(needed, 2 * this.room.length));
    chunk.copy(this.room, this.length);
    this.length = needed;
  }

  private grow(bytes: number): void {
    const { all } = this;
    this.room = Buffer.allocUnsafeSlow(bytes);
    all.copy(this.room);
  }
}
