import { existsSync, readdirSync } from 'node:fs';
import { extname } from 'node:path';
import type { NextFunction, Request, Response } from 'express';

/** Extensions of the precompressed variants of a file, best first. */
const VARIANTS = { br: '.br', gzip: '.gz' } as const;

/** Files of a folder that does not change while the process lives, with their precompressed variants. */
export class StaticFiles {
  private readonly names: ReadonlySet<string>;

  /** @param folder may be missing: then there are no files */
  constructor(private readonly folder: string) {
    this.names = new Set(
      existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [],
    );
  }

  /** @param name path in the folder, such as `assets/index-B2x.js` */
  has(name: string): boolean {
    return this.names.has(name) && extname(name) !== '';
  }

  /**
   * Sends a file in the best encoding that the client accepts, with an ETag.
   * @param cacheControl header `Cache-Control`
   */
  send(
    name: string,
    { request, response, next }: { request: Request; response: Response; next: NextFunction },
    cacheControl: string,
  ): void {
    const encoding = this.chooseEncoding(name, request);
    response.vary('Accept-Encoding').type(extname(name));
    if (encoding) response.set('Content-Encoding', encoding);
    const headers = { 'Cache-Control': cacheControl };
    const path = encoding ? name + VARIANTS[encoding] : name;
    response.sendFile(path, { root: this.folder, headers, cacheControl: false }, (error?: Error) => {
      if (error && !response.headersSent) next(error);
    });
  }

  private chooseEncoding(name: string, request: Request): keyof typeof VARIANTS | undefined {
    const encodings = (['br', 'gzip'] as const).filter((encoding) => this.has(name + VARIANTS[encoding]));
    return encodings.find((encoding) => request.acceptsEncodings(encoding) === encoding);
  }
}
