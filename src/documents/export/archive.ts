import { finished, pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { ZipFile } from 'yazl';

/** File of an archive. */
export interface ArchiveEntry {
  readonly name: string;
  readonly content: Buffer;
  readonly modifiedAt: Date;
}

/**
 * Writes a ZIP archive while its entries are produced. Produces the next entry once the previous one was taken, so that
 * a slow reader does not fill the memory. A failed entry destroys the output: a truncated archive must not look complete.
 * @throws the error of the entries, or of the output
 */
export async function writeArchive(entries: AsyncIterable<ArchiveEntry>, output: Writable): Promise<void> {
  const zip = new ZipFile();
  const source = zip.outputStream as Readable;
  const abandoned = new AbortController();
  const filling = fill(zip, entries, abandoned.signal).catch((error: unknown) => {
    source.destroy(error as Error);
  });
  try {
    await pipeline(source, output);
  } finally {
    abandoned.abort();
    await filling;
  }
}

async function fill(zip: ZipFile, entries: AsyncIterable<ArchiveEntry>, signal: AbortSignal): Promise<void> {
  for await (const { name, content, modifiedAt } of entries) {
    if (signal.aborted) return;
    const stream = Readable.from([content]);
    zip.addReadStream(stream, name, { mtime: modifiedAt, size: content.length, forceDosTimestamp: true });
    await finished(stream, { signal });
  }
  zip.end();
}
