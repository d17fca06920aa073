/** Records at most in one insert: larger ones stall the event loop. */
export const BATCH_RECORDS = 500;

/** Records that wait to be written to the database. */
export interface Batch {
  /** A line each, with ends of lines between them. Valid until the batch is committed. */
  readonly text: Buffer;
  readonly records: number;
  /** Each of them by itself, for a batch that the database refuses. */
  lines(): Buffer[];
  /** They are in the database: they need not be kept any longer. */
  commit(): Promise<void>;
}

/** The text of a batch; of whatever bytes its lines are. */
export function joinLines(lines: readonly Buffer[]): Buffer {
  return Buffer.from(lines.map((line) => line.toString('latin1')).join('\n'), 'latin1');
}

/** Where records wait, oldest first. */
export interface RecordSource {
  /** The next ones, the same ones until they are committed; undefined when there are none. */
  read(): Promise<Batch | undefined>;
}
