import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';

/** Prefix of the keys of bodies in object storage. */
export const BODY_PREFIX = 'documents/';

/** Body to store, with the columns that describe it. */
export interface Body {
  readonly bytes: Buffer;
  readonly bodySha256: Buffer;
  /** Bytes of UTF-8. */
  readonly bodySize: number;
}

export function toBody(content: string): Body {
  const bytes = Buffer.from(content, 'utf8');
  return { bytes, bodySha256: sha256(bytes), bodySize: bytes.length };
}

export function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/** Key of the body. It depends on the id alone, so that a change of the slug moves nothing. */
export function bodyKey(documentId: number): string {
  return `${BODY_PREFIX}${documentId}`;
}

/** Parses a key of object storage. Undefined when no document can have a body under this key. */
export function parseBodyKey(key: string): number | undefined {
  const id = /^[1-9]\d{0,14}$/.exec(key.slice(BODY_PREFIX.length));
  return key.startsWith(BODY_PREFIX) && id ? Number(id[0]) : undefined;
}
