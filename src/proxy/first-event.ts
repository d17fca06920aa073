/** An event of an event stream (HTML Living Standard, 9.2). */
export interface StreamEvent {
  /** Empty when the event has no name. */
  readonly name: string;
  readonly data: string;
}

/** How much of a stream is looked at for its first event. */
const LIMIT_BYTES = 65_536;
/** The line end before it included. */
const BLANK_LINE = /\r?\n\r?\n|\r\r/;
const LINE_END = /\r\n|\n|\r/;

/**
 * The first event of a stream, comments left out.
 * @returns undefined while it is not complete; an empty one when it is too long to wait for
 */
export function firstEvent(stream: Buffer): StreamEvent | undefined {
  if (stream.length > LIMIT_BYTES) return { name: '', data: '' };
  let rest = stream.toString('utf8', 0, stream.length);
  for (;;) {
    const blankLine = BLANK_LINE.exec(rest);
    if (!blankLine) return undefined;
    const event = eventIn(rest.slice(0, blankLine.index));
    if (event) return event;
    rest = rest.slice(blankLine.index + blankLine[0].length);
  }
}

/** Undefined where there are comments only. */
function eventIn(block: string): StreamEvent | undefined {
  let name = '';
  let data: string | undefined;
  for (const line of block.split(LINE_END)) {
    if (line.startsWith('data:')) data = data === undefined ? valueOf(line) : `${data}\n${valueOf(line)}`;
    else if (line.startsWith('event:')) name = valueOf(line);
  }
  return data === undefined ? undefined : { name, data };
}

function valueOf(line: string): string {
  const start = line.indexOf(':') + 1;
  return line.slice(line[start] === ' ' ? start + 1 : start);
}
