import { createHash } from 'node:crypto';
import type { Response } from 'express';

const TAG_CHARACTERS = 27;

/**
 * What is the same for everybody as long as the process lives. It is made when it is asked for the first time, with its
 * tag, and kept: to make it anew for each of many requests holds up everybody.
 */
export class Asset {
  private made?: { readonly bytes: Buffer; readonly tag: string };

  /** @param type as Express knows it, `css` for instance */
  constructor(
    private readonly type: string,
    private readonly make: () => Buffer,
  ) {}

  send(response: Response): void {
    const { bytes, tag } = (this.made ??= tagged(this.make()));
    response.type(this.type).set('ETag', tag).send(bytes);
  }
}

function tagged(bytes: Buffer) {
  const hash = createHash('sha256').update(bytes).digest('base64').slice(0, TAG_CHARACTERS);
  return { bytes, tag: `"${hash}"` };
}
