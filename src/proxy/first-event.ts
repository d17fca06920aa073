/** An event of an event stream (HTML Living Standard, 9.2). */
export interface StreamEvent {
  /** Empty when the event has no name. */
  readonly name: string;
  readonly data: string;
}

/** How much of a stream is looked at for its first event. */
const LIMIT_BYTES = 65_536;
const LINE_END = /\r\n?/g;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * The first event of a stream, comments left out.
 * @returns undefined while it is not complete; an empty one when it is too long to wait for
 */
export function firstEvent(stream: Buffer): StreamEvent | undefined {
  if (stream.length > LIMIT_BYTES) return { name: '', data: '' };
  const text = textOf(stream);
  let name = '';
  let data: string | undefined;
  for (let at = 0; ;) {
    const end = text.indexOf('\n', at);
    if (end < 0) return undefined;
    if (end === at && data !== undefined) return { name, data };
    if (end === at) name = '';
    else if (text.startsWith('data:', at)) data = joined(data, valueIn(text, at, end));
    else if (text.startsWith('event:', at)) name = valueIn(text, at, end);
    at = end + 1;
  }
}

/** With one kind of line ends, and without a byte order mark. */
function textOf(stream: Buffer): string {
  const received = stream.toString('utf8', 0, stream.length);
  const text = received.charCodeAt(0) === BYTE_ORDER_MARK ? received.slice(1) : received;
  return text.includes('\r') ? text.replace(LINE_END, '\n') : text;
}

function joined(data: string | undefined, line: string): string {
  return data === undefined ? line : `${data}\n${line}`;
}

function valueIn(text: string, at: number, end: number): string {
  const start = text.indexOf(':', at) + 1;
  return text.slice(text[start] === ' ' ? start + 1 : start, end);
}
