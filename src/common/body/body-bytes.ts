import type { Request } from 'express';
import { BadRequest, RequestTimeout, UnsupportedEncoding } from '../api/domain-error.js';
import { GrowingBuffer } from './growing-buffer.js';

/** Limit of a body's chunks: each costs a call of Node's parser, and a client may send one for every byte. */
export const MAX_CHUNKS = 16_384;

/** Bounds within which the service reads a request body. */
export interface BodyBounds {
  /** Largest body, in bytes on the wire. */
  readonly limitBytes: number;
  /** Time until the body is complete, from the moment at which the service starts to read it. */
  readonly timeoutMs?: number;
}

/** Bounds of a request with a session. Its deadline is the server's own, `BODY_TIMEOUT_MS`. */
export const SESSION_BODY: BodyBounds = { limitBytes: 1_048_576 };

/** Bounds of a request without a session: anybody may open many connections and leave their bodies unfinished. */
export const ANONYMOUS_BODY: BodyBounds = { limitBytes: 16_384, timeoutMs: 10_000 };

/**
 * Reads the body without parsing it; empty when the request has none.
 * @param bounds default: those of a request with a session if a guard found one, otherwise the anonymous ones
 * @throws UnsupportedEncoding
 * @throws BodyTooLarge
 * @throws TooManyChunks
 * @throws RequestTimeout
 * @throws BadRequest if the connection ends before the body is complete
 */
export async function readBytes(request: Request, bounds = boundsOf(request)): Promise<Buffer> {
  if (request.headers['content-encoding'] !== undefined) throw new UnsupportedEncoding();
  try {
    return await beforeDeadline(readRaw(request, bounds), bounds);
  } catch (error) {
    request.resume(); // the rest is read and dropped, so that the client gets to read its response
    throw error;
  }
}

function boundsOf({ user }: Request): BodyBounds {
  return user === undefined ? ANONYMOUS_BODY : SESSION_BODY;
}

/** Rejects an announced length above the limit at once, and a chunked body at the first byte above it. */
function readRaw(request: Request, { limitBytes }: BodyBounds): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    return Promise.reject(new BodyTooLarge(limitBytes));
  }
  const body = new GrowingBuffer(NaN, 0);
  let chunks = 0;
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      const isTooLarge = body.length + chunk.length > limitBytes;
      if (!isTooLarge && ++chunks <= MAX_CHUNKS) return body.append(chunk);
      request.off('data', onData);
      reject(isTooLarge ? new BodyTooLarge(limitBytes) : new TooManyChunks());
    };
    const onCut = (): void => reject(new BadRequest('the body is incomplete'));
    request.on('data', onData).once('end', () => resolve(body.bytes));
    request.once('error', onCut).once('close', onCut);
  });
}

function beforeDeadline<T>(work: Promise<T>, { timeoutMs }: BodyBounds): Promise<T> {
  if (timeoutMs === undefined) return work;
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => reject(new RequestTimeout()), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(deadline));
  });
}

/** 400 for a body above the limit of its route. */
export class BodyTooLarge extends BadRequest {
  constructor(limitBytes: number) {
    super(`the body is larger than ${limitBytes} bytes`);
  }
}

/** 400 for a body in tiny chunks. The connection ends, because to read and drop the rest costs as much as to use it. */
class TooManyChunks extends BadRequest {
  override readonly headers = { Connection: 'close' };

  constructor() {
    super(`the body has more than ${MAX_CHUNKS} chunks`);
  }
}
