import { GrowingBuffer } from '../../common/body/growing-buffer.js';
import { ANTHROPIC_VERSION } from '../../upstreams/provider.js';
import type { ResponseHeaders } from '../wire/response-headers.js';
import { Attempt } from '../exchange/attempt.js';
import type { AttemptError, ResponseReceiver } from '../exchange/attempt-result.js';
import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import { createWireRequest } from '../pool/targets.js';
import type { Target } from '../pool/targets.js';
import type { UpstreamConnections } from '../wire/upstream-connections.js';

export const MAX_LIST_BYTES = 1_048_576;
/** Initial buffer, large enough for most lists. */
const FIRST_BYTES = 16_384;
/** Largest page of Anthropic's list (Anthropic API reference, "List Models"). */
const ANTHROPIC_PAGE = 'limit=1000';
const LIMIT = /[?&]limit=/;
/** Header line that only clients of Anthropic's API send. */
export const ANTHROPIC_VERSION_LINE = /^anthropic-version:/m;
/** Header lines that could cause a response other than the complete list in JSON. */
const UNSUITABLE_LINES = /^(?:accept|range|if-[^:]+|content-[^:]+):.*\r\n/gm;

/** Request for the model list of one upstream. */
export class ModelListRequest implements ResponseReceiver {
  readonly attempt: Attempt;
  /** Prevents a retry: an interrupted list is discarded. */
  readonly hasStarted = true;
  private body?: GrowingBuffer = undefined;
  private resolve: (body: Buffer | undefined) => void;

  /**
   * @param lines header lines of the client, without the credentials
   * @param timeoutMs time until the list is complete
   */
  constructor(
    target: Target,
    lines: string,
    connections: UpstreamConnections,
    private readonly timeoutMs: number,
  ) {
    const anthropic = target.provider === 'anthropic';
    const at = anthropic ? { ...target, path: withPage(target.path) } : target;
    const wire = createWireRequest(at, 'GET', listLines(lines, anthropic), EMPTY_BUFFER);
    const deadlines = { firstByteMs: timeoutMs, idleMs: timeoutMs };
    this.attempt = new Attempt(target, wire, deadlines, connections, {
      onAccepted: (attempt) => attempt.pipeTo(this),
      onRejected: () => this.settle(undefined),
    });
  }

  /** @returns the body of a 200; undefined if the body is too long, late or interrupted, or the status differs */
  send(): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.settle(undefined, 'timeout'), this.timeoutMs);
      this.resolve = (body) => {
        clearTimeout(deadline);
        resolve(body);
      };
      this.attempt.start();
    });
  }

  cancel(): void {
    this.settle(undefined);
  }

  onResponseHeaders({ status, framing }: ResponseHeaders): void {
    const length = typeof framing === 'number' ? framing : NaN;
    if (status !== 200 || length > MAX_LIST_BYTES) this.settle(undefined);
    else this.body = new GrowingBuffer(length, FIRST_BYTES);
  }

  onData(chunk: Buffer): void {
    if (!this.body) return;
    if (this.body.length + chunk.length > MAX_LIST_BYTES) this.settle(undefined);
    else this.body.append(chunk);
  }

  onReadEnd(): void {
    // the list is parsed as a whole, at its end
  }

  onEnd(): void {
    this.settle(this.body?.bytes);
  }

  onInterrupted(): void {
    this.settle(undefined);
  }

  /** @param error result of an attempt that is still undecided */
  private settle(body: Buffer | undefined, error?: AttemptError): void {
    this.attempt.cancel(error);
    this.body = undefined;
    this.resolve(body);
  }
}

/** Header lines of the request: those of the client, except for {@link UNSUITABLE_LINES}. */
function listLines(lines: string, anthropic: boolean): string {
  const kept = lines.replace(UNSUITABLE_LINES, '');
  const hasVersion = !anthropic || ANTHROPIC_VERSION_LINE.test(lines);
  return `accept: application/json\r\n${hasVersion ? '' : `anthropic-version: ${ANTHROPIC_VERSION}\r\n`}${kept}`;
}

function withPage(path: string): string {
  if (LIMIT.test(path)) return path; // the client requests a page
  return `${path}${path.includes('?') ? '&' : '?'}${ANTHROPIC_PAGE}`;
}
