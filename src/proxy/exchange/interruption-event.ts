import type { ProxyErrorBody } from '../errors/proxy-error.js';

/**
 * Formats the error event that ends an interrupted stream, in the dialect of the API at this path.
 * @param sequenceNumber for OpenAI's Responses
 */
export function interruptionEvent(path: string, body: ProxyErrorBody, sequenceNumber = 0): string {
  const { error } = body;
  if (path.startsWith('/v1/messages')) return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  if (isResponsesPath(path)) {
    const { message, code, param } = error;
    // OpenAI documents the flat members. The API also sends `error`, by which the SDKs recognise an error.
    const event = { type: 'error', sequence_number: sequenceNumber, code, message, param, error };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  }
  return `data: ${JSON.stringify({ error })}\n\n`;
}

export function isResponsesPath(path: string): boolean {
  return path.startsWith('/v1/responses');
}

const LF = 0x0a;
const LF_LF = 0x0a_0a;
const LF_CR_LF = 0x0a_0d_0a;

/** Tracks whether a stream stands at the boundary of an event. An added event must follow an empty line. */
export class EventBoundary {
  /** The last three bytes. */
  private last = LF_LF;

  onData(chunk: Buffer): void {
    for (let i = Math.max(0, chunk.length - 3); i < chunk.length; i++) {
      this.last = ((this.last << 8) | chunk[i]!) & 0xff_ff_ff;
    }
  }

  /** Line ends that complete the current event. */
  get separator(): string {
    if ((this.last & 0xff) !== LF) return '\n\n';
    const followsEmptyLine = (this.last & 0xff_ff) === LF_LF || this.last === LF_CR_LF;
    return followsEmptyLine ? '' : '\n';
  }
}

const SEQUENCE_KEY = '"sequence_number"';
/** Includes the byte after the number: without it, the number may continue in the next chunk. */
const SEQUENCE_NUMBER = /^\s*:\s*(\d{1,15})\s*[,}]/;
/** Characters of a chunk that are kept for a member that continues in the next chunk. */
const CARRIED_CHARACTERS = 64;

/** Tracks the `sequence_number` of OpenAI's Responses events, so that an added event gets the next number. */
export class SequenceTracker {
  next = 0;
  private carried = '';

  onData(chunk: Buffer): void {
    const text = this.carried + chunk.toString('latin1');
    // A copy: a slice would keep the whole chunk in memory.
    this.carried = Buffer.from(text.slice(-CARRIED_CHARACTERS), 'latin1').toString('latin1');
    const at = text.lastIndexOf(SEQUENCE_KEY);
    if (at < 0) return;
    const [, number] = SEQUENCE_NUMBER.exec(text.slice(at + SEQUENCE_KEY.length)) ?? [];
    if (number !== undefined) this.next = Number(number) + 1;
  }
}
