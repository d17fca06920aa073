import { createHash } from 'node:crypto';
import type { Response } from 'express';

const TAG_CHARACTERS = 27;

/**
 * Response body that is constant while the process lives. The body and its ETag are created by the first request and
 * kept, because creating them for every request would block the event loop.
 */
export class Asset {
  private cached?: { readonly bytes: Buffer; readonly tag: string };

  /** @param type media type in Express's short form, such as `css` */
  constructor(
    private readonly type: string,
    private readonly create: () => Buffer,
  ) {}

  send(response: Response): void {
    const { bytes, tag } = (this.cached ??= withTag(this.create()));
    response.type(this.type).set('ETag', tag).send(bytes);
  }
}

function withTag(bytes: Buffer) {
  const hash = createHash('sha256').update(bytes).digest('base64').slice(0, TAG_CHARACTERS);
  return { bytes, tag: `"${hash}"` };
}
