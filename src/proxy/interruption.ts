import type { ProxyErrorBody } from './proxy-error.js';

const LF = 0x0a;
const LF_LF = 0x0a_0a;
const LF_CR_LF = 0x0a_0d_0a;

/** Where in a line a stream stands: an event of ours must begin behind an empty one. */
export class LineEnds {
  /** The last three bytes. */
  private last = LF_LF;

  passed(chunk: Buffer): void {
    for (let i = Math.max(0, chunk.length - 3); i < chunk.length; i++) {
      this.last = ((this.last << 8) | chunk[i]!) & 0xff_ff_ff;
    }
  }

  /** What ends the event that has begun, so that the next one stands for itself. */
  get separator(): string {
    if ((this.last & 0xff) !== LF) return '\n\n';
    const isBehindEmptyLine = (this.last & 0xff_ff) === LF_LF || this.last === LF_CR_LF;
    return isBehindEmptyLine ? '' : '\n';
  }
}

const SEQUENCE_KEY = '"sequence_number"';
/** Up to what is behind the number, so that none is taken that goes on in the next chunk. */
const SEQUENCE_NUMBER = /^\s*:\s*(\d{1,15})\s*[,}]/;
/** Of a chunk, for a member that goes on in the next one. */
const CARRIED_CHARACTERS = 64;

/** The events of OpenAI's Responses are counted: one of ours is the next. */
export class SequenceNumbers {
  next = 0;
  private carried = '';

  passed(chunk: Buffer): void {
    const text = this.carried + chunk.toString('latin1');
    this.carried = text.slice(-CARRIED_CHARACTERS);
    const at = text.lastIndexOf(SEQUENCE_KEY);
    if (at < 0) return;
    const [, number] = SEQUENCE_NUMBER.exec(text.slice(at + SEQUENCE_KEY.length)) ?? [];
    if (number !== undefined) this.next = Number(number) + 1;
  }
}

export function isResponses(path: string): boolean {
  return path.startsWith('/v1/responses');
}

/**
 * The event by which a stream that was cut off ends, in the dialect of the API below this path.
 * @param sequenceNumber of an event of OpenAI's Responses
 */
export function interruptionEvent(path: string, body: ProxyErrorBody, sequenceNumber = 0): string {
  const { error } = body;
  if (path.startsWith('/v1/messages')) return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  if (isResponses(path)) {
    const { message, code, param } = error;
    // As documented, and as the API itself has it: the SDKs know an error by the member `error`.
    const event = { type: 'error', sequence_number: sequenceNumber, code, message, param, error };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  }
  return `data: ${JSON.stringify({ error })}\n\n`;
}
