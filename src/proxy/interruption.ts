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

/** The event by which a stream that was cut off ends, in the dialect of the API below this path. */
export function interruptionEvent(path: string, body: ProxyErrorBody): string {
  const { error } = body;
  if (path.startsWith('/v1/messages')) return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  if (path.startsWith('/v1/responses')) {
    const { message, code, param } = error;
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param })}\n\n`;
  }
  return `data: ${JSON.stringify({ error })}\n\n`;
}
