import { hash } from 'node:crypto';
import type { Document } from './document.entity.js';

/** A row and the body that belongs to it. */
export interface DocumentWithContent {
  readonly document: Document;
  readonly content: string;
}

/** A body on its way into storage, with what the row says of it. */
export interface Body {
  readonly bytes: Buffer;
  readonly bodySha256: Buffer;
  readonly bodySize: number;
}

export function toBody(content: string): Body {
  const bytes = Buffer.from(content, 'utf8');
  return { bytes, bodySha256: sha256(bytes), bodySize: bytes.length };
}

export function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/** Where the body is, for the document's whole life, whatever its slug becomes. */
export function bodyKey(documentId: number): string {
  return `${BODY_PREFIX}${documentId}`;
}

/** The document that the object is the body of; undefined when it is the body of none that there can be. */
export function documentIdOf(key: string): number | undefined {
  const id = /^[1-9]\d{0,14}$/.exec(key.slice(BODY_PREFIX.length));
  return key.startsWith(BODY_PREFIX) && id ? Number(id[0]) : undefined;
}

export const BODY_PREFIX = 'documents/';

/** The strong entity tag (RFC 9110, 8.8.3) of a document as it is in this row. */
export function entityTag({ id, version }: Document): string {
  return `"${id}-${version}"`;
}
