import type { HttpRequest } from '../common/http-exchange.js';
import { EMPTY } from './meter.js';

/** What becomes of a body: one of the two, unless the client leaves. */
export interface BodyEvents {
  read(body: Buffer): void;
  tooLarge(): void;
}

/**
 * Reads a whole body, for it may have to be sent to several upstreams.
 * @param limitBytes on the wire
 */
export function readBody(request: HttpRequest, limitBytes: number, events: BodyEvents): void {
  const { headers } = request;
  const announced = headers['content-length'];
  if (announced === undefined && headers['transfer-encoding'] === undefined) return events.read(EMPTY);
  if (Number(announced) > limitBytes) return refuse(request, events);
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
    refuse(request, events);
  };
  request.on('data', take);
  if (!(expected > 0)) request.on('end', finish);
}

/** The rest is read and dropped, so that the client gets to read its answer. */
function refuse(request: HttpRequest, events: BodyEvents): void {
  request.resume();
  events.tooLarge();
}
