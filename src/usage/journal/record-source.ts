/** Limit of the records of one insert. Larger inserts stall the event loop. */
export const BATCH_RECORDS = 500;

/** Records to be written to the database together. */
export interface Batch {
  /** Lines, separated by line feeds. Valid until the batch is committed. */
  readonly text: Buffer;
  readonly records: number;
  /** Whether more records may wait behind these. */
  readonly isFull: boolean;
  /** Splits the text, for a batch that the database rejects. */
  lines(): Buffer[];
  /** Releases the records. The database has them. */
  commit(): Promise<void>;
}

/** Joins lines of arbitrary bytes to the text of a batch. */
export function joinLines(lines: readonly Buffer[]): Buffer {
  return Buffer.from(lines.map((line) => line.toString('latin1')).join('\n'), 'latin1');
}

/** Queue of records, oldest first. */
export interface RecordSource {
  /** Returns the same batch until it is committed; undefined if the queue is empty. */
  read(): Promise<Batch | undefined>;
}
