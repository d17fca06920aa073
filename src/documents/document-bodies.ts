import { Injectable } from '@nestjs/common';
import { ObjectStore } from '../storage/object-store.js';
import { bodyKey, sha256 } from './document-body.js';
import type { Body } from './document-body.js';
import type { Document } from './document.entity.js';

/** The bodies of documents in object storage. */
@Injectable()
export class DocumentBodies {
  constructor(private readonly store: ObjectStore) {}

  async put(documentId: number, { bytes }: Body, deadline?: AbortSignal): Promise<void> {
    await this.store.put(bodyKey(documentId), bytes, deadline);
  }

  /** The body of this row; undefined when what is stored now is not that. */
  async matching(document: Document): Promise<string | undefined> {
    const bytes = await this.store.get(bodyKey(document.id));
    return bytes && sha256(bytes).equals(document.bodySha256) ? bytes.toString('utf8') : undefined;
  }

  /** What is stored now, whichever row it belongs to; undefined when nothing is. */
  current(documentId: number, deadline?: AbortSignal): Promise<Buffer | undefined> {
    return this.store.get(bodyKey(documentId), deadline);
  }
}
