import type { HttpRequest } from '../common/http-exchange.js';
import { EMPTY } from './empty.js';

/** What becomes of a body: one of the two, unless the client leaves. */
export interface BodyEvents {
  read(body: Buffer): void;
  tooLarge(): void;
}

/**
 * Reads a whole body, for it may have to be sent to several upstreams. What is left of one that is too large is for the
 * server to drop, as that of any request whose answer does not wait for it.
 * @param limitBytes on the wire
 */
export function readBody(request: HttpRequest, limitBytes: number, events: BodyEvents): void {
  const { headers } = request;
  const announced = headers['content-length'];
  if (announced === undefined && headers['transfer-encoding'] === undefined) return events.read(EMPTY);
  if (Number(announced) > limitBytes) return events.tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const expected = Number(announced); // NaN where the body comes in chunks
  const finish = () => events.read(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes === expected) return finish(); // sooner than the end is told
    if (bytes <= limitBytes) return;
    request.off('data', take).off('end', finish);
    events.tooLarge();
  };
  request.on('data', take);
  if (!(expected > 0)) request.on('end', finish);
}
