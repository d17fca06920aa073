import type { ProxyErrorBody } from './proxy-error.js';

const LF = 10;
const CR = 13;

/** Where in a line a stream stands: an event of ours must begin behind an empty one. */
export class LineEnds {
  private last = LF;
  private beforeLast = LF;

  passed(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const beforeLast = chunk.length > 1 ? chunk.at(-2)! : this.last;
    this.last = chunk.at(-1)!;
    this.beforeLast = this.last === LF && beforeLast === CR ? LF : beforeLast;
  }

  /** What ends the event that has begun, so that the next one stands for itself. */
  get separator(): string {
    if (this.last !== LF) return '\n\n';
    return this.beforeLast === LF ? '' : '\n';
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
