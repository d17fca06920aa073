/** An event of an event stream (HTML Living Standard, 9.2). */
export interface StreamEvent {
  /** Empty when the event has no name. */
  readonly name: string;
  readonly data: string;
}

/** How much of a stream is looked at for its first event. */
const LIMIT_BYTES = 65_536;

/**
 * The first event of a stream, comments left out.
 * @returns undefined while it is not complete; an empty one when it is too long to wait for
 */
export function firstEvent(stream: Buffer): StreamEvent | undefined {
  if (stream.length > LIMIT_BYTES) return { name: '', data: '' };
  const blocks = stream.toString('utf8', 0, stream.length).split(/\r?\n\r?\n|\r\r/);
  for (const block of blocks.slice(0, -1)) {
    const lines = block.split(/\r\n|\n|\r/);
    const data = fieldsOf(lines, 'data');
    if (data.length > 0) return { name: fieldsOf(lines, 'event').at(-1) ?? '', data: data.join('\n') };
  }
  return undefined;
}

function fieldsOf(lines: readonly string[], field: string): string[] {
  return lines
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).replace(/^ /, ''));
}
