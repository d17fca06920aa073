import type { Request } from 'express';
import getRawBody from 'raw-body';
import { BadRequest, UnsupportedEncoding } from './domain-error.js';

/** Greatest body of a request to ourselves, in bytes on the wire. */
const BODY_LIMIT_BYTES = 1_048_576;

/**
 * The body as it came; empty when there is none.
 * @throws UnsupportedEncoding @throws BodyTooLarge @throws BadRequest when it was cut off
 */
export async function readBytes(request: Request): Promise<Buffer> {
  if (request.headers['content-encoding'] !== undefined) throw new UnsupportedEncoding();
  const length = request.headers['content-length'];
  try {
    return await getRawBody(request, { length, limit: BODY_LIMIT_BYTES });
  } catch (error) {
    request.resume(); // the rest is read and dropped, so that the client gets to read its answer
    const tooLarge = (error as { type?: string }).type === 'entity.too.large';
    throw tooLarge ? new BodyTooLarge() : new BadRequest('the body was cut off');
  }
}

/** More than {@link BODY_LIMIT_BYTES}. */
export class BodyTooLarge extends BadRequest {
  constructor() {
    super(`the body is larger than ${BODY_LIMIT_BYTES} bytes`);
  }
}
