import type { Buffer } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { ObjectStore } from '../../storage/object-store.js';
import { bodyKey, sha256 } from './document-body.js';
import type { Body } from './document-body.js';
import type { DocumentRow } from './document-rows.js';

/** Bodies of documents in object storage. */
@Injectable()
export class DocumentBodies {
  constructor(private readonly store: ObjectStore) {}

  async put(documentId: number, { bytes }: Body, deadline?: AbortSignal): Promise<void> {
    await this.store.put(bodyKey(documentId), bytes, deadline);
  }

  /** Reads the body of this row. Undefined when the stored body is missing or belongs to another version. */
  async findMatching({
    id,
    body_sha256,
  }: Pick<DocumentRow, 'id' | 'body_sha256'>): Promise<string | undefined> {
    const bytes = await this.store.get(bodyKey(id));
    return bytes && sha256(bytes).equals(body_sha256) ? bytes.toString('utf8') : undefined;
  }

  /** Reads the stored body, whichever version it belongs to. Undefined when there is none. */
  find(documentId: number, deadline?: AbortSignal): Promise<Buffer | undefined> {
    return this.store.get(bodyKey(documentId), deadline);
  }
}
